// The bytes that go to a worker and come back: one frame each way. Also what the compile cache stores.
//
//   std::string frame = encodeFrame(encodeRequest(request));
//   SUBLANE_TRY(std::string_view payload, decodeFrame(frame));
//   SUBLANE_TRY(AheadOfTimeRequest same, decodeRequest(payload));
#pragma once

#include <string>
#include <string_view>

#include "pjrt/worker.h"

namespace sublane::pjrt {

/// Raised when the meaning of a message changes; part of every cache key.
constexpr int64_t kMessageVersion = 2;

/// "SUBL", the version, the payload's size (8 bytes, little endian), the payload.
std::string encodeFrame(std::string_view payload);
/// Errors (machine): no frame, another version, or fewer or more bytes than it says.
Result<std::string_view> decodeFrame(std::string_view bytes);

/// All that can change the result, in a fixed order: equal requests give equal bytes. The timeout is left
/// out.
std::string encodeRequest(const AheadOfTimeRequest& request);
Result<AheadOfTimeRequest> decodeRequest(std::string_view bytes);

std::string encodeResult(const AheadOfTimeResult& result);
Result<AheadOfTimeResult> decodeResult(std::string_view bytes);

/// A reply is a result or the error that the worker met; decodeReply returns that error as its own.
std::string encodeReply(const Result<AheadOfTimeResult>& reply);
Result<AheadOfTimeResult> decodeReply(std::string_view bytes);

}  // namespace sublane::pjrt
