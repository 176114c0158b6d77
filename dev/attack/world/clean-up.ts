// Deletes what the journal names, nothing else: objects of the API server (of which Halts are lifted), and manifests that the
// registry should never have taken.
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import type { AdminClient } from '../../cluster/control-plane/admin-client.ts'
import type { Http } from './http.ts'
import type { Journal } from './journal.ts'
import { isHalt, liftHalt } from './lift.ts'

/** Resolves when all is gone. Rejects, and keeps the journal, when something cannot be deleted. */
export async function cleanUp(journal: Journal, admin: AdminClient, http: Http): Promise<void> {
  const objects = journal.all().filter(({ kind }) => kind === 'object')
  for (const { path } of objects) {
    if (isHalt(path)) {
      await liftHalt(admin, path)
      continue
    }
    const answer = await admin.request('DELETE', `${path}?propagationPolicy=Background`)
    if (answer.status >= 400 && answer.status !== 404)
      throw new Error(`${path} cannot be deleted: ${answer.status} ${JSON.stringify(answer.body).slice(0, 200)}`)
  }
  for (const { path } of objects)
    await waitUntil(`${path} to be gone`, async () => (await admin.request('GET', path)).status === 404, {
      timeoutMilliseconds: limits.rollout,
    })
  for (const { kind, path } of journal.all()) {
    if (kind !== 'manifest') continue
    const answer = await http.send(path, { method: 'DELETE' })
    if (![202, 401, 403, 404, 405].includes(answer.status)) throw new Error(`${path} cannot be deleted: ${answer.status}`)
  }
  await journal.clear()
}
