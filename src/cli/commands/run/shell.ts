// `sekisho shell`: a shell in a pod of its own, with the image and the environment of an Application. Nothing of what serves is
// touched, and nobody else can attach to it.
import { AppError } from '../../../lib/errors.ts'
import { namedOrOnly } from '../application/only.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { processTerminal } from './local-terminal.ts'
import { type RunOptions, runTask } from './run.ts'

/**
 * It waits for one line, which we type once we are attached: what a shell writes before, its first prompt, would be seen by
 * nobody.
 */
const script = 'IFS= read -r _; if command -v bash >/dev/null; then exec bash; else exec sh; fi'

/** Rejects with CommandEnded when the shell ends with another code than 0. */
export async function shell(context: ClusterContext, options: RunOptions, name?: string): Promise<void> {
  const local = processTerminal()
  if (local.input !== 'terminal' && options.dryRun !== true)
    throw new AppError(
      'invalid_request',
      `a shell needs a terminal: sekisho run ${name ?? '<application>'} -- sh -c "…" runs commands without one`,
    )
  const { metadata } = await namedOrOnly(context.cluster, name)
  const interactive = { ...options, interactive: true, tty: true }
  await runTask(context, interactive, { name: metadata.name, command: ['sh', '-c', script], begins: '\n', local })
}
