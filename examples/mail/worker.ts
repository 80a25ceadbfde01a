// The worker process of the example: its own setting is MAIL_GATEWAY_URL.

import { runWorker, settingOf } from '../stories/worker.ts';
import { mailTools } from './tools.ts';

await runWorker(mailTools({ url: settingOf('MAIL_GATEWAY_URL') }));
