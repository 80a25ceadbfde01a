// Before the browser tests start a server: is there a browser at all?

import { chromiumPath } from './chromium.ts';

export default function setup(): void {
  chromiumPath(process.env);
}
