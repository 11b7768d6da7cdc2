// Puts a report into the template as src/views/html.cc does, for tests of the page alone.
import {readFileSync} from 'node:fs';
import {gzipSync} from 'node:zlib';

export function pack(template, report) {
  const text = typeof report === 'string' ? report : JSON.stringify(report);
  return readFileSync(template, 'utf8').replace('{{data}}', () => gzipSync(text, {level: 7}).toString('base64'));
}
