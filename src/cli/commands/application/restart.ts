// `sekisho restart`: replaces all pods of an Application, one after the other.
import { type ClusterFormat, present } from '../../output.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { changeApplication } from './change.ts'
import { podsOf } from './pods.ts'

type Options = { readonly output: ClusterFormat; readonly dryRun?: boolean }

/** Sets `spec.restartedAt` to the present time. */
export async function restart(context: ClusterContext, options: Options, name: string): Promise<void> {
  const restartedAt = context.clock.now().toISOString()
  await changeApplication(context.cluster, name, options.dryRun, () => ({ restartedAt }))
  const hasPods = (await podsOf(context.cluster, name)).length > 0
  const value = { application: name, restartedAt, dryRun: options.dryRun === true }
  const text = (): string =>
    options.dryRun === true
      ? `${name} would be restarted (dry run)`
      : hasPods
        ? `${name}: its pods are replaced, one after the other; sekisho ps ${name} shows them`
        : `${name} has no pods: nothing is replaced; sekisho why application/${name} says why`
  await present(context.terminal, options.output, { value, text })
}
