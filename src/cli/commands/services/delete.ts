// `sekisho services delete`: says what becomes of the data, and refuses while something uses the service: its deletion would wait
// for that, and no Application could begin to use it meanwhile.
import { AppError } from '../../../lib/errors.ts'
import { defined } from '../../../lib/json/defined.ts'
import { gone } from '../../kubernetes/until.ts'
import { type ClusterFormat, CommandEnded, exitCodes, present } from '../../output.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { type AnyService, namedService } from './service-kinds.ts'
import { rowOf, type ServiceRow, surroundings } from './show.ts'

type Options = {
  readonly output: ClusterFormat
  readonly dryRun?: boolean
  readonly deleteData?: boolean
  readonly wait?: boolean
}

const waitMilliseconds = 60_000

/** Why it is not deleted now, with the commands that lead there; undefined when it can be. Pure. */
export function obstacle({ service, usedBy, credentials }: ServiceRow): string | undefined {
  const users = [...new Set(usedBy.map(({ application }) => application))]
  const commands = users.map(application => `sekisho services detach ${service} ${application}`)
  if (users.length > 0)
    return `${service} is used by ${users.join(', ')}: first run ${commands.slice(0, 5).join(' and ')}${commands.length > 5 ? ' and so on' : ''}`
  const own = credentials.filter(({ application }) => application === null).map(({ binding }) => binding)
  if (own.length > 0)
    return `${service} has credentials for pods of your own: first run kubectl delete servicebinding ${own.slice(0, 10).join(' ')}`
  const left = credentials.flatMap(({ application }) => application ?? [])
  return left.length === 0
    ? undefined
    : `pods of earlier releases of ${[...new Set(left)].join(', ')} still use ${service}: wait until they are gone (sekisho services info ${service})`
}

/** Throws `invalid_request` where the data would be lost and nobody said so, or the other way round. */
export function refuseUnsaid({ kind, service }: AnyService, deleteData: boolean): void {
  const { name } = service.metadata
  const isLost = service.spec.whenDeleted === 'Delete'
  const patch = (when: string): string =>
    `kubectl patch ${kind.type.kind.toLowerCase()} ${name} --type merge -p '{"spec":{"whenDeleted":"${when}"}}'`
  if (isLost && !deleteData)
    throw new AppError(
      'invalid_request',
      `its whenDeleted is Delete, so that the data of ${name} would be gone for good: say so with --delete-data, or keep them with ${patch('Keep')}`,
    )
  if (!isLost && deleteData)
    throw new AppError(
      'invalid_request',
      `its whenDeleted is Keep, so that the data of ${name} stay: leave out --delete-data, or first run ${patch('Delete')}`,
    )
}

/** What becomes of the data. Pure. */
export function dataText({ kind, service: { spec } }: AnyService, namespace: string): string {
  if (spec.whenDeleted === 'Keep')
    return `its data stay ${kind.keptIn} without a credential, and a ${kind.noun} of the same name in ${namespace} has them again`
  return spec.emptyWhenDeleted === false
    ? 'it stays while it has objects (spec.emptyWhenDeleted is false), and is deleted for good when it has none'
    : 'its data are deleted, too'
}

/** Rejects with `conflict` while it is used. With `--wait` ends with code 1 when it is not gone within a minute. */
export async function servicesDelete(context: ClusterContext, options: Options, name: string): Promise<void> {
  const { cluster, terminal, clock } = context
  const { client, namespace } = cluster
  const dryRun = options.dryRun === true
  const [one, around] = await Promise.all([namedService(cluster, name), surroundings(context)])
  const problem = obstacle(rowOf(one, around))
  if (problem !== undefined) throw new AppError('conflict', problem)
  refuseUnsaid(one, options.deleteData === true)
  const { kind, service } = one
  const { uid } = service.metadata
  await client.delete(kind.type, { name, namespace }, { dryRun, ...defined({ uid }) })
  const waits = options.wait === true && !dryRun
  const isGone = waits
    ? await gone({ client, clock, type: kind.type, object: service, milliseconds: waitMilliseconds })
    : undefined
  const { whenDeleted } = service.spec
  const value = { service: name, kind: kind.type.kind, whenDeleted, dryRun, ...defined({ gone: isGone }) }
  const said = (): string => {
    const data = dataText(one, namespace)
    if (dryRun) return `${kind.noun} ${name} would be deleted (dry run); ${data}`
    const state =
      isGone === undefined ? 'is being deleted' : isGone ? 'is deleted' : 'is not gone yet: the platform goes on by itself'
    return `${kind.noun} ${name} ${state}; ${data}`
  }
  await present(terminal, options.output, { value, text: said })
  if (isGone === false) throw new CommandEnded(exitCodes.failed)
}
