// `holdfast/worker`: what composes and runs workers.

export { type Config, ConfigError, configFrom } from '../core/config.ts';
export { type CreateWorkersOptions, createWorkers, type Workers } from './create-workers.ts';
export {
  type EmbeddedServer,
  type EmbeddedServerOptions,
  startEmbeddedServer,
  startTimeSkippingServer,
  type TimeSkippingServer,
} from './embedded-server.ts';
export { createLog, errorFields, type Log, type LogFields, temporalLogger } from './log.ts';
export { missingSearchAttributes, registerSearchAttributes } from './search-attributes.ts';
export { temporalCliBinary, timeSkippingServerBinary } from './temporal-cli.ts';
export {
  type BundleRequest,
  bundleWorkflows,
  packageFile,
  type WorkflowBundle,
} from './workflow-bundle.ts';
