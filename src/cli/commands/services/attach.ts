// `sekisho services attach` and `detach`: the entries of `spec.services` of an Application. Both can be repeated: what is so
// already is left as it is.

import type { Application } from '../../../api/apps/application.ts'
import { doubleVariable, ownedBindingName } from '../../../api/services/application-services.ts'
import type { ServiceBinding } from '../../../api/services/service-binding.ts'
import { AppError } from '../../../lib/errors.ts'
import { defined } from '../../../lib/json/defined.ts'
import { serviceBindings } from '../../kubernetes/kinds.ts'
import { didYouMean } from '../../kubernetes/similar-names.ts'
import { until } from '../../kubernetes/until.ts'
import { type ClusterFormat, CommandEnded, exitCodes, present } from '../../output.ts'
import { changeApplication } from '../application/change.ts'
import { verdict } from '../application/status.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { isDecided } from './create.ts'
import { namedService, type ServiceKind, type ServiceUse, serviceKinds } from './service-kinds.ts'

type Output = { readonly output: ClusterFormat; readonly dryRun?: boolean }
export type AttachOptions = Output & {
  readonly name?: string
  readonly access?: ServiceUse['access']
  /** Of a bucket. */
  readonly prefix?: string
  readonly env?: Readonly<Record<string, string>>
  /** Undefined: as it is. */
  readonly files?: boolean
  readonly wait?: boolean
}

const waitMilliseconds = 60_000
/** Of the name of an entry. */
const maxName = 40

/** Which entry of an Application is meant, and what it is to be. */
export type Wanted = Pick<AttachOptions, 'name' | 'access' | 'prefix' | 'env' | 'files'> & {
  readonly kind: ServiceKind
  readonly service: string
}

const isOf = (use: ServiceUse, { kind, service }: Wanted): boolean => use[kind.useField] === service

/** The name of the entry: the given one, that of the only entry of the service, or that of the service itself. */
function entryName(uses: readonly ServiceUse[], wanted: Wanted): string {
  if (wanted.name !== undefined) return wanted.name
  const own = uses.filter(use => isOf(use, wanted))
  const [only, ...others] = own
  if (only !== undefined && others.length === 0) return only.name
  if (only !== undefined)
    throw new AppError(
      'invalid_request',
      `several entries name ${wanted.service}: choose one with --name: ${own.map(({ name }) => name).join(', ')}`,
    )
  if (wanted.service.length <= maxName) return wanted.service
  throw new AppError('invalid_request', `${wanted.service} is too long for an entry: give it a name with --name`)
}

/** What is not said stays as it is. */
function changed(
  before: ServiceUse | undefined,
  name: string,
  { kind, service, access, prefix, env, files }: Wanted,
): ServiceUse {
  const more = defined({ access, prefix, env, files })
  const entry = { ...before, name, [kind.useField]: service, ...more } as ServiceUse
  const { files: hasFiles, ...rest } = entry
  return hasFiles === true ? entry : rest
}

const comparable = (use: ServiceUse): string => JSON.stringify(Object.entries(use).toSorted(([a], [b]) => (a < b ? -1 : 1)))

/**
 * The entries with it, and which one it is. Throws `conflict` when another service has the name, or something else sets one of
 * its variables.
 */
export function attached(
  { metadata, spec }: Pick<Application, 'metadata' | 'spec'>,
  wanted: Wanted,
): { readonly services: readonly ServiceUse[]; readonly entry: ServiceUse } {
  const uses = spec.services ?? []
  const name = entryName(uses, wanted)
  const before = uses.find(use => use.name === name)
  if (before !== undefined && !isOf(before, wanted))
    throw new AppError(
      'conflict',
      `the entry ${name} of ${metadata.name} is another service: give this one another name with --name`,
    )
  const entry = changed(before, name, wanted)
  const services = before === undefined ? [...uses, entry] : uses.map(use => (use === before ? entry : use))
  refuseDoubleVariables(spec, services, name)
  return { services, entry }
}

function refuseDoubleVariables({ env = [] }: Application['spec'], services: readonly ServiceUse[], name: string): void {
  const double = doubleVariable(env, services)
  // What was so before is another matter.
  if (double === undefined || (double.by !== name && double.and !== name)) return
  const other = double.by === name ? double.and : double.by
  const who = other === undefined ? 'the variables of the Application (sekisho env list) have' : `the entry ${other} sets`
  const isBucket = services.some(use => use.name === name && use.bucket !== undefined)
  const such = isBucket ? '--env OTHER_BUCKET=bucket --env OTHER_KEY=access-key-id and so on' : '--env OTHER_URL=uri'
  throw new AppError('conflict', `${who} ${double.variable}, too: give it another name here, such as ${such}`)
}

/** Gives the service to the Application. */
export async function servicesAttach(
  context: ClusterContext,
  options: AttachOptions,
  name: string,
  application: string,
): Promise<void> {
  const { cluster, terminal } = context
  const dryRun = options.dryRun === true
  const { kind, service } = await namedService(cluster, name)
  if (service.metadata.deletionTimestamp !== undefined)
    throw new AppError('conflict', `${kind.noun} ${name} is being deleted: no Application can begin to use it`)
  const wanted = { ...options, kind, service: name }
  const { before, after } = await changeApplication(cluster, application, dryRun, current => {
    const { services, entry } = attached(current, wanted)
    const former = current.spec.services?.find(use => use.name === entry.name)
    return former !== undefined && comparable(former) === comparable(entry) ? undefined : { services }
  })
  const { entry } = attached(after, wanted)
  const isChanged = before !== after
  // The defaults of the API server are in it.
  const binding = ownedBindingName(application, entry)
  const waits = options.wait === true && !dryRun
  const delivered = waits ? await delivery(context, application, binding) : undefined
  const value = { service: name, application, entry, binding, changed: isChanged, dryRun, ...(waits ? { delivered } : {}) }
  await present(terminal, options.output, { value, text: () => attachText(value, delivered) })
  if (waits && delivered?.ready !== true) throw new CommandEnded(exitCodes.failed)
}

type State = { readonly ready: boolean; readonly reason: string; readonly message: string }

/** The state of its credential, once that is decided; what is known after a minute otherwise. */
async function delivery({ cluster, clock }: ClusterContext, application: string, binding: string): Promise<State> {
  const { client, namespace } = cluster
  const signal = AbortSignal.timeout(waitMilliseconds)
  let seen: State = {
    ready: false,
    reason: 'Pending',
    message: `Application ${application} has not made ServiceBinding ${binding} yet`,
  }
  const answer = (object: ServiceBinding, deleted: boolean): State | undefined => {
    if (object.metadata.name !== binding || deleted) return undefined
    seen = verdict(object)
    return isDecided(object) ? seen : undefined
  }
  try {
    return await until({ client, clock, type: serviceBindings, namespace, labelSelector: '', signal, answer })
  } catch (error) {
    if (signal.aborted) return seen
    throw error
  }
}

type Attached = {
  readonly service: string
  readonly application: string
  readonly entry: ServiceUse
  readonly changed: boolean
  readonly dryRun: boolean
}

function attachText({ service, application, entry, changed: isChanged, dryRun }: Attached, state: State | undefined): string {
  const what = `${application} ${isChanged ? (dryRun ? 'would use' : 'uses') : 'uses already'} ${service} as ${entry.name}, ${entry.access}`
  if (dryRun) return `${what} (dry run)`
  if (state === undefined)
    return isChanged
      ? `${what}. Its credential is made now, and its pods are replaced with it: sekisho why application/${application} shows how far it is`
      : what
  return state.ready
    ? `${what}, and the credential is delivered: its pods are replaced with it, one after the other`
    : `${what}, and the credential is not delivered (${state.reason}): ${state.message}\nsekisho why application/${application} shows how far it is`
}

type DetachOptions = Output & { readonly name?: string }

/**
 * The entries without those of the service, or without the named one. Throws `not_found` when the named one does not exist, and
 * `conflict` when it is another service.
 */
export function detached(
  { metadata, spec }: Pick<Application, 'metadata' | 'spec'>,
  service: string,
  name: string | undefined,
): { readonly services: readonly ServiceUse[]; readonly removed: readonly ServiceUse[] } {
  const uses = spec.services ?? []
  const isService = (use: ServiceUse): boolean => serviceKinds.some(({ useField }) => use[useField] === service)
  if (name !== undefined) {
    const entry = uses.find(use => use.name === name)
    const names = uses.map(use => use.name)
    if (entry === undefined)
      throw new AppError('not_found', `${metadata.name} has no entry ${name} in spec.services${didYouMean(name, names)}`)
    if (!isService(entry)) throw new AppError('conflict', `the entry ${name} of ${metadata.name} is not ${service}`)
  }
  const kinds = serviceKinds.filter(({ useField }) => uses.some(use => use[useField] === service))
  if (name === undefined && kinds.length > 1)
    throw new AppError(
      'invalid_request',
      `${metadata.name} uses a ${kinds.map(({ noun }) => noun).join(' and a ')} of the name ${service}: choose an entry with --name`,
    )
  const isMeant = (use: ServiceUse): boolean => isService(use) && (name === undefined || use.name === name)
  return { services: uses.filter(use => !isMeant(use)), removed: uses.filter(isMeant) }
}

/** Takes the service from the Application. A service that is gone can be taken away, too. */
export async function servicesDetach(
  context: ClusterContext,
  options: DetachOptions,
  service: string,
  application: string,
): Promise<void> {
  const { cluster, terminal } = context
  const dryRun = options.dryRun === true
  const { before } = await changeApplication(cluster, application, dryRun, current => {
    const { services, removed } = detached(current, service, options.name)
    return removed.length === 0 ? undefined : { services: services.length === 0 ? null : services }
  })
  const { removed } = detached(before, service, options.name)
  // A name that is misspelt is not taken for one that was detached before.
  if (removed.length === 0) await namedService(cluster, service)
  const value = { service, application, removed: removed.map(({ name }) => name), changed: removed.length > 0, dryRun }
  const said = (): string => {
    if (removed.length === 0) return `${application} does not use ${service}: nothing was changed`
    const entries = removed.map(({ name }) => name).join(', ')
    if (dryRun) return `${application} would not use ${service} any more (dry run)`
    return `${application} does not use ${service} any more (${entries}). Its pods are replaced, and its credential ends when none of the earlier ones is left`
  }
  await present(terminal, options.output, { value, text: said })
}
