# cmake -DFROM=file -DTO=file.inc -P embed_text.cmake: a text file as a C++ raw string, at build time.
file(READ ${FROM} text)
string(FIND "${text}" ")sublane_text\"" end)
if(NOT end EQUAL -1)
  message(FATAL_ERROR "${FROM}: holds the end of the raw string that it is put into")
endif()
file(WRITE ${TO} "R\"sublane_text(${text})sublane_text\"\n")
