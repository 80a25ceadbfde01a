// The worker process of the example: its own settings are PAYMENT_API_URL and PAYMENT_TIMEOUT_MS.

import { runWorker, settingOf } from '../stories/worker.ts';
import { paymentTools } from './tools.ts';

const timeoutMs = Number(process.env['PAYMENT_TIMEOUT_MS'] ?? 10_000);
await runWorker(paymentTools({ url: settingOf('PAYMENT_API_URL'), timeoutMs }));
