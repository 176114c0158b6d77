// The circumstances of a report in unit tests.
import type { ReportContext } from '../answer/desired.ts'

/** Of a preview named `name`, whose AppPipeline is `shop`. */
export const reportContext = (name: string): ReportContext => ({
  namespace: 'acme',
  name,
  pipeline: 'shop',
  statusContext: 'sekisho/preview/shop',
  pullRequest: 1,
  environment: 'preview/shop',
  task: `deploy:sekisho:${name}`,
  publicUrl: new URL('https://sekisho.example.test'),
  marker: 'm'.repeat(32),
  pendingCommit: undefined,
  othersCommits: [],
})
