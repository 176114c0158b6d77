// Brings the database of the production form to the schema of the image: applies the Job and waits for it, as
// docs/guide/install.md says.
import { join } from 'node:path'
import { messageOf } from '../../../src/lib/errors.ts'
import type { Kubectl } from '../kubectl.ts'
import { podTrouble } from './pod-trouble.ts'

type Job = {
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } } }
  readonly status?: { readonly succeeded?: number }
}

const job = ['job/sekisho-migrate', '-n', 'sekisho-system'] as const
const patienceSeconds = 120

/** Nothing to do when a Job of this image has succeeded. Rejects with the end of the Job's log. */
export async function migrateDatabase(kubectl: Kubectl, overlay: string, image: string): Promise<void> {
  const found = (await kubectl.read([...job])) as Job | undefined
  const [container] = found?.spec.template.spec.containers ?? []
  const done = found?.status?.succeeded === 1 && container?.image.split('@')[1] === image.split('@')[1]
  // A Job cannot be changed.
  if (!done) await kubectl.run(['delete', ...job, '--ignore-not-found'])
  await kubectl.applyFolder(join(overlay, 'migration'))
  if (done) return
  try {
    await kubectl.run(
      ['wait', '--for=condition=Complete', ...job, `--timeout=${patienceSeconds}s`],
      (patienceSeconds + 10) * 1000,
    )
  } catch (cause) {
    const log = await kubectl.run(['logs', ...job, '--tail=20']).catch((error: unknown) => messageOf(error))
    const said = log.trim() === '' ? `(nothing)\n${await podTrouble(kubectl)}` : log
    throw new Error(`the migration of the database did not complete; its log:\n${said}`, { cause })
  }
}
