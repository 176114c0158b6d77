// The access records: API servers say here who asks for a change of access, and it is in the audit log before they do it. It
// always lets the request pass: what may be done is decided by others, and access must be ended also while the log cannot be
// written. Then it is not known who did it, and the record of the end says so (docs/adr/0078-who-changes-access.md).
import { existsSync } from 'node:fs'
import { messageOf } from '../../lib/errors.ts'
import { defined } from '../../lib/json/defined.ts'
import { parseJson } from '../../lib/json/json-value.ts'
import { periodic } from '../../lib/periodic.ts'
import { type CountedAudit, createCountedAudit } from '../../store/audit/counted-audit.ts'
import { createPostServer } from '../../web/post-server.ts'
import { certificateFromFiles } from '../../web/tls.ts'
import type { ServiceDeps } from '../deps.ts'
import type { Part } from '../part.ts'
import { type AccessReview, allowed, changingRecord, readReview } from './access-review.ts'
import type { AccessRecordsSettings } from './config.ts'

export type AccessRecordsDeps = Pick<ServiceDeps<AccessRecordsSettings>, 'settings' | 'store' | 'clock' | 'log'>

/** Below the timeout of the registration: the API server gets its answer also when the log does not answer. */
const maxWaitMilliseconds = 1500
/** Equal requests of one user about one object are counted for so long. */
export const countedMilliseconds = 60_000
const bodyLimit = 8 * 1024 * 1024
/** The kinds are few and change seldom; a namespace that ends brings some hundreds at once. */
const budget = { requests: 64, bytes: 4 * bodyLimit, bodyLimit }
const connections = { most: 128, maxOfClient: 64 }

/** Records the change that a review is about. Resolves to the answer, in any case. */
export function createAccessRecorder({
  counted,
  clock,
  log,
}: Pick<AccessRecordsDeps, 'clock' | 'log'> & { readonly counted: Pick<CountedAudit, 'append'> }): (
  body: Buffer,
) => Promise<string> {
  const record = async (change: AccessReview): Promise<void> => {
    const { details, actor, ...about } = changingRecord(change)
    const { request: _, ...same } = details
    const key = JSON.stringify(['changing', actor, about.object, same])
    const appended = counted.append({ record: { ...about, actor, details }, key, windowMilliseconds: countedMilliseconds })
    // It may still be recorded after the answer.
    const failed = appended.then(
      () => undefined,
      (error: unknown) => messageOf(error),
    )
    const late = clock.sleep(maxWaitMilliseconds).then(() => 'the audit log did not answer in time')
    const problem = await Promise.race([failed, late])
    if (problem !== undefined) log.error({ object: about.object, error: problem }, 'who changes access was not recorded')
  }
  return async body => {
    const { request, change } = readReview(parseJson(body.toString('utf8')))
    if (change !== undefined) await record(change)
    return allowed(request)
  }
}

/** Serves on every replica, whether it leads or not. */
export function openAccessRecords({ settings, store, clock, log }: AccessRecordsDeps): Part {
  const files = {
    certificatePath: settings.webhookCertificatePath,
    privateKeyPath: settings.webhookKeyPath,
    clientAuthorityPath: settings.webhookClientAuthorityPath,
  }
  if (!existsSync(files.certificatePath)) {
    log.error({ path: files.certificatePath }, 'who changes access is not recorded: there is no certificate for API servers')
    return { start: () => {}, stop: async () => {} }
  }
  const certificate = certificateFromFiles(files, { log })
  const counted = createCountedAudit({ audit: store.audit, clock, log })
  const routes = new Map([['/records', createAccessRecorder({ counted, clock, log })]])
  const clientNames = files.clientAuthorityPath === undefined ? undefined : settings.webhookClientNames
  const server = createPostServer({ log, certificate, ...defined({ clientNames }), routes, budget, connections })
  const flush = periodic({ name: 'access records counts', everyMilliseconds: 5000, work: () => counted.flush(), clock, log })
  return {
    async start() {
      await server.listen({ host: '0.0.0.0', port: settings.accessRecordsPort })
      flush.start()
    },
    async stop() {
      await Promise.all([server.close(), flush.stop()])
      server.closeAllConnections()
      certificate.stop()
      await counted.flush(true)
    },
  }
}
