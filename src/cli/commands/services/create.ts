// `sekisho services create`: a service of a class from flags. What exists already and fits is left as it is. What the class does
// not offer is said before anything is sent; the platform decides.

import { classOfReason } from '../../../api/reasons/class-of-reason.ts'
import { goesOnByItself } from '../../../api/reasons/reason.ts'
import { foreignExtensions, planMessage, planOf } from '../../../api/services/offer.ts'
import type { ServiceClass } from '../../../api/services/service-class.ts'
import type { NewObject } from '../../../kube/client/client.ts'
import { isKubeError } from '../../../kube/client/errors.ts'
import { AppError } from '../../../lib/errors.ts'
import { defined } from '../../../lib/json/defined.ts'
import { fieldManager, found } from '../../kubernetes/cluster.ts'
import { serviceClasses } from '../../kubernetes/kinds.ts'
import { didYouMean } from '../../kubernetes/similar-names.ts'
import { settled } from '../../kubernetes/until.ts'
import { type ClusterFormat, CommandEnded, exitCodes, present } from '../../output.ts'
import { verdict } from '../application/status.ts'
import type { ClusterContext } from '../cluster-context.ts'
import { kindOfType, type ServiceKind, type ServiceObject, serviceKinds } from './service-kinds.ts'

export type CreateOptions = {
  readonly class?: string
  readonly plan?: string
  readonly extension?: readonly string[]
  readonly whenDeleted?: 'Keep' | 'Delete'
  readonly wait?: boolean
  readonly dryRun?: boolean
  readonly output: ClusterFormat
}

const waitMilliseconds = 60_000

/** The one that was named, or the only one. Rejects with the cure when none is certain. */
async function chosenClass({ cluster }: ClusterContext, name: string | undefined): Promise<ServiceClass> {
  if (name !== undefined) return found(cluster, serviceClasses, name)
  return onlyClass(await cluster.client.list(serviceClasses))
}

/** The only one that there is, else the only one of databases: buckets beside them are named. Throws when none is certain. */
export function onlyClass(classes: readonly ServiceClass[]): ServiceClass {
  const all = classes.filter(({ spec }) => kindOfType(spec.type) !== undefined)
  const databases = all.filter(({ spec }) => spec.type === serviceKinds[0]?.classType)
  const [only, ...others] = databases.length === 1 ? databases : all
  if (only !== undefined && others.length === 0) return only
  const names = all.map(({ metadata }) => metadata.name).join(', ')
  throw new AppError(
    'invalid_request',
    only === undefined
      ? 'no service is offered: a platform admin creates ServiceClasses (docs/guide/services.md)'
      : `choose one with --class: ${names}. sekisho services classes shows them`,
  )
}

/** Throws `invalid_request` for what the class does not offer, with what it does. */
export function refuseWhatIsNotOffered(serviceClass: ServiceClass, { plan, extension = [] }: CreateOptions): void {
  const names = serviceClass.spec.plans.map(({ name }) => name)
  if (planOf(serviceClass, plan) === undefined)
    throw new AppError('invalid_request', `${planMessage(serviceClass, plan)} (--plan)${didYouMean(plan ?? '', names)}`)
  const [foreign] = foreignExtensions(serviceClass, extension)
  if (foreign === undefined) return
  const allowed: readonly string[] = serviceClass.spec.extensions ?? []
  const there = allowed.length === 0 ? 'it allows none' : `it allows ${allowed.join(', ')}`
  const { name } = serviceClass.metadata
  throw new AppError(
    'invalid_request',
    `ServiceClass ${name} does not allow the extension ${foreign}: ${there}${didYouMean(foreign, allowed)}`,
  )
}

function kindOf({ metadata, spec }: ServiceClass): ServiceKind {
  const kind = kindOfType(spec.type)
  if (kind !== undefined) return kind
  throw new AppError(
    'invalid_request',
    `ServiceClass ${metadata.name} is of type ${spec.type}, which this sekisho does not know: update it, or use kubectl`,
  )
}

type Named = { readonly kind: ServiceKind; readonly name: string; readonly namespace: string; readonly className: string }

/** What is left out has the default of the API server. */
export function manifestOf({ kind, name, namespace, className }: Named, options: CreateOptions): NewObject<ServiceObject> {
  const { plan, extension = [], whenDeleted } = options
  const parameters = extension.length === 0 ? undefined : { [kind.classType]: { extensions: extension } }
  const spec = { class: className, ...defined({ plan, parameters, whenDeleted }) }
  const { apiVersion, kind: word } = kind.type
  return { apiVersion, kind: word, metadata: { name, namespace }, spec } as NewObject<ServiceObject>
}

/** What is different about the one that has the name; undefined when it fits. Pure. */
export function difference({ spec }: ServiceObject, wanted: NewObject<ServiceObject>): string | undefined {
  const { class: className, plan, whenDeleted, parameters } = wanted.spec
  if (spec.class !== className) return `it is of class ${spec.class}, which cannot change: choose another name`
  if (plan !== undefined && spec.plan !== plan) return `its plan is ${spec.plan ?? 'the default one'}: kubectl edit changes it`
  if (whenDeleted !== undefined && spec.whenDeleted !== whenDeleted)
    return `its whenDeleted is ${spec.whenDeleted}: kubectl edit changes it`
  if (parameters !== undefined && JSON.stringify(spec.parameters) !== JSON.stringify(parameters))
    return 'its extensions are others: kubectl edit changes them'
  return undefined
}

/** Resolves to the object, and whether it was created now. Rejects with `conflict` for another one of that name. */
async function make(
  { cluster: { client, namespace } }: ClusterContext,
  { type, noun }: ServiceKind,
  wanted: NewObject<ServiceObject>,
  dryRun: boolean,
): Promise<{ readonly service: ServiceObject; readonly created: boolean }> {
  try {
    return { service: await client.create(type, wanted, { fieldManager, dryRun }), created: true }
  } catch (error) {
    if (isKubeError(error, 403) && error.message.includes('exceeded quota'))
      throw new AppError(
        'forbidden',
        `the tenant has as many ${noun}s as it may: delete what is not used, or ask a platform admin to raise spec.limits.services of the Tenant (${error.message})`,
        { cause: error },
      )
    const { name = '' } = wanted.metadata
    const service = isKubeError(error, 409) ? await client.get(type, { name, namespace }) : undefined
    if (service === undefined) throw error
    const other = difference(service, wanted)
    if (other === undefined && service.metadata.deletionTimestamp === undefined) return { service, created: false }
    throw new AppError('conflict', `${noun} ${name} exists already, and ${other ?? 'is being deleted: wait until it is gone'}`)
  }
}

/** Whether nothing more comes of waiting. */
export function isDecided(object: Parameters<typeof verdict>[0]): boolean {
  const { ready, reason } = verdict(object)
  return ready || (reason !== 'Pending' && !goesOnByItself(classOfReason(reason)))
}

/**
 * Rejects with `conflict` when something else has the name. `-o yaml` prints what was stored, or with `--dry-run` what would be:
 * a file for `kubectl apply`. With `--wait` ends with code 1 when it is not ready within a minute.
 */
export async function servicesCreate(context: ClusterContext, options: CreateOptions, name: string): Promise<void> {
  const { cluster, terminal, clock } = context
  const { client, namespace } = cluster
  const dryRun = options.dryRun === true
  const serviceClass = await chosenClass(context, options.class)
  refuseWhatIsNotOffered(serviceClass, options)
  const kind = kindOf(serviceClass)
  const wanted = manifestOf({ kind, name, namespace, className: serviceClass.metadata.name }, options)
  const { service, created } = await make(context, kind, wanted, dryRun)
  if (options.output === 'yaml') {
    const { stringify } = await import('yaml')
    const { apiVersion, kind: word, spec } = service
    return terminal.result(stringify({ apiVersion, kind: word, metadata: { name, namespace }, spec }).trimEnd())
  }
  const waits = options.wait === true && !dryRun
  const last = waits
    ? await settled({ client, clock, type: kind.type, object: service, milliseconds: waitMilliseconds, isDone: isDecided })
    : service
  const state = verdict(last)
  const value = { service: name, kind: kind.type.kind, class: service.spec.class, created, dryRun, ...state }
  const made = created
    ? dryRun
      ? 'would be created (dry run); -o yaml prints the manifest'
      : 'created'
    : 'exists already: nothing was changed'
  const next = dryRun ? '' : nextText(name, kind, waits ? state : undefined)
  await present(terminal, options.output, { value, text: () => `${kind.noun} ${name} ${made}${next}` })
  if (waits && !state.ready) throw new CommandEnded(exitCodes.failed)
}

type State = ReturnType<typeof verdict>

function nextText(name: string, { type }: ServiceKind, state: State | undefined): string {
  const attach = `sekisho services attach ${name} APPLICATION gives it to an Application`
  if (state === undefined) return `. Next: ${attach}`
  if (state.ready) return `, and ready. Next: ${attach}`
  return `, and not ready (${state.reason}): ${state.message}\nsekisho why ${type.kind.toLowerCase()}/${name} shows how far it is`
}
