// The way of a credential: class, service, credential, proof, delivered, used by the pods. Pure. Each step is one line for all
// services that belong to it, and the first thing that is wrong with one of them is what it says.
import { serviceReasons } from '../../../api/services/application-services.ts'
import { bucketReasons } from '../../../api/services/bucket.ts'
import { serviceBindingReasons } from '../../../api/services/service-binding.ts'
import { serviceInstanceReasons } from '../../../api/services/service-instance.ts'
import { type ServiceKind, serviceKinds } from '../services/service-kinds.ts'
import type { Facts } from './facts.ts'
import type { ServiceFact } from './service-facts.ts'
import { conditionOf, fromCondition, type Judgement, type Mark, observed, ok, open, type Step, waiting, wrong } from './step.ts'

const admin = 'a platform admin corrects the cause; then it goes on by itself'

/** By reason; `object`: the kind in lower case. */
const cures: Readonly<Record<string, (object: string) => string>> = {
  [serviceInstanceReasons.classNotFound]: () =>
    'sekisho services classes shows those that there are; a class cannot change: make another one',
  [serviceInstanceReasons.classNotAllowed]: () => 'sekisho services classes shows those for your tenant; or ask a platform admin',
  [serviceInstanceReasons.classOfOtherType]: () => 'delete it and make it again with sekisho services create --class',
  [serviceInstanceReasons.planNotFound]: object => `kubectl edit ${object} changes spec.plan`,
  [serviceInstanceReasons.extensionNotAllowed]: object =>
    `kubectl edit ${object} takes it out of spec.parameters; or ask a platform admin`,
  [serviceInstanceReasons.instanceMissing]: () =>
    'a platform admin restores it from a backup, or delete the ServiceInstance and make it again: it is empty then',
  [serviceInstanceReasons.writesEnded]: object =>
    `make room by TRUNCATE, which works now, too; or kubectl edit ${object} chooses a larger plan (spec.plan)`,
  [serviceInstanceReasons.keptTooMany]: object =>
    `kubectl edit ${object} sets spec.whenDeleted to Delete, which loses the data; or make one of those that were kept again by its name, and delete it with its data`,
  [serviceInstanceReasons.inUse]: () => 'sekisho services detach takes it from the Applications that use it',
  [bucketReasons.bucketMissing]: () => 'a platform admin restores it, or delete the Bucket and make it again: it is empty then',
  [bucketReasons.bucketNotEmpty]: object =>
    `delete the objects in it; or kubectl edit ${object} sets spec.emptyWhenDeleted to true, or spec.whenDeleted to Keep`,
  [bucketReasons.capabilityMissing]: object => `kubectl edit ${object} takes the field out, which the store does not have`,
  [bucketReasons.nameNotAllowed]: () => 'delete the Bucket and make it without spec.name, or ask a platform admin',
  [serviceBindingReasons.instanceNotFound]: () => 'sekisho services create makes it',
  [serviceBindingReasons.bucketNotFound]: () => 'sekisho services create makes it, with --class of a class of buckets',
  [serviceBindingReasons.lockTableFilled]: () =>
    'whatever took the locks has to take fewer at a time; the platform makes another credential by itself',
  [serviceBindingReasons.refusedByCluster]: () => 'make room in the quota, or ask a platform admin; the platform tries again',
}

const cureOf = (reason: string | undefined, kind: ServiceKind): string =>
  cures[reason ?? '']?.(kind.type.kind.toLowerCase()) ?? admin

const rank: Readonly<Record<Mark, number>> = { wrong: 0, waiting: 1, open: 2, ok: 3 }

/** One line for all of them, each with its label where it has one. Undefined when the step belongs to none. */
export function together<T>(
  all: readonly T[],
  labelOf: (one: T) => string | undefined,
  judge: (one: T) => Judgement | undefined,
): Judgement | undefined {
  const judged = all.flatMap(one => {
    const judgement = judge(one)
    if (judgement === undefined) return []
    const label = labelOf(one)
    return [label === undefined ? judgement : { ...judgement, text: `${label}: ${judgement.text}` }]
  })
  const [worst] = judged.toSorted((a, b) => rank[a.mark] - rank[b.mark])
  if (worst === undefined || worst.mark !== 'ok') return worst
  return ok([...new Set(judged.map(({ text }) => text))].join(', '))
}

const ofEach =
  (judge: (fact: ServiceFact, facts: Facts) => Judgement | undefined) =>
  (facts: Facts): Judgement | undefined =>
    together(
      facts.services,
      // One alone needs no name.
      ({ label }) => (facts.services.length === 1 ? undefined : label),
      fact => judge(fact, facts),
    )

const unfit: ReadonlySet<string> = new Set([
  serviceReasons.names.invalidServices,
  serviceReasons.names.serviceNotForIsolated,
  serviceReasons.names.serviceNotFound,
])

/** Reasons of an Application that are about `spec.services`. */
export const ofServices: ReadonlySet<string> = new Set(Object.values(serviceReasons.names))

/** Whether the steps after it say what the Application waits for: not of a kind that this version does not know. */
function isSaidLater(uses: number, services: readonly ServiceFact[]): boolean {
  const isReady = (object: Parameters<typeof conditionOf>[0]): boolean => conditionOf(object, 'Ready')?.status === 'True'
  return services.length >= uses && services.some(({ service, binding }) => !isReady(service) || !isReady(binding))
}

/** Whether the entries of the Application fit together; what is wrong with one of them say the steps after it. */
function entriesStep({ application, services }: Facts): Judgement | undefined {
  const uses = application?.spec.services?.length ?? 0
  if (application === undefined || (services.length === 0 && uses === 0)) return undefined
  const { name } = application.metadata
  const ready = conditionOf(application, 'Ready')
  const cure = `kubectl edit application ${name} corrects spec.services, or sekisho services attach and detach do`
  if (ready !== undefined && unfit.has(ready.reason)) return wrong(`${ready.reason}: ${ready.message}`, cure)
  if (ready !== undefined && ofServices.has(ready.reason) && !isSaidLater(uses, services)) return fromCondition(ready, cure)
  return ok(services.map(({ label, serviceName }) => `${label} is ${serviceName}`).join(', '))
}

/** What a deletion waits for. */
const ofDeletion: ReadonlySet<string> = new Set([
  serviceInstanceReasons.keptTooMany,
  serviceInstanceReasons.inUse,
  serviceInstanceReasons.serverUnreachable,
  bucketReasons.bucketNotEmpty,
  bucketReasons.emptying,
])

function serviceStep({ kind, service, serviceName }: ServiceFact, { now }: Facts): Judgement {
  const what = `${kind.type.kind} ${serviceName}`
  if (service === undefined)
    return wrong(
      `there is no ${what}`,
      `sekisho services create ${serviceName} --class CLASS makes it, or correct the name; sekisho services classes shows those of type ${kind.classType}`,
    )
  const ready = conditionOf(service, 'Ready')
  if (service.metadata.deletionTimestamp !== undefined && !ofDeletion.has(ready?.reason ?? ''))
    return wrong(`${what} is being deleted`, 'its deletion waits until nothing uses it: sekisho services detach takes it away')
  const seen = observed(service, kind.type.kind, now)
  if (seen !== undefined && seen.mark !== 'ok') return seen
  const judged = fromCondition(ready, cureOf(ready?.reason, kind))
  return judged.mark === 'ok'
    ? ok(`${what} exists${service.status?.plan === undefined ? '' : `, plan ${service.status.plan}`}`)
    : judged
}

function classStep({ kind, service, serviceClass }: ServiceFact): Judgement | undefined {
  if (service === undefined) return undefined
  const { class: name } = service.spec
  if (serviceClass === undefined)
    return wrong(`there is no ServiceClass ${name}`, cureOf(serviceInstanceReasons.classNotFound, kind))
  const judged = fromCondition(conditionOf(serviceClass, 'Ready'), admin)
  const version = serviceClass.status?.version
  return judged.mark === 'ok'
    ? ok(`ServiceClass ${name} answers${version === undefined ? '' : `: ${serviceClass.spec.type} ${version}`}`)
    : { ...judged, text: `ServiceClass ${name}: ${judged.text}` }
}

/** Of a credential that the service does not have yet, what is before it says more. */
function isReached({ service, binding }: ServiceFact): boolean {
  return binding?.status?.binding !== undefined || conditionOf(service, 'Ready')?.status === 'True'
}

function credentialStep(fact: ServiceFact): Judgement | undefined {
  const { kind, bindingName, binding } = fact
  if (bindingName === undefined) return undefined
  if (!isReached(fact)) return open('waits for the service')
  if (binding === undefined) return waiting(`ServiceBinding ${bindingName} is not made yet`)
  const issued = conditionOf(binding, 'Issued')
  const judged = fromCondition(issued, cureOf(issued?.reason, kind))
  if (judged.mark !== 'ok') return judged
  return ok(`ServiceBinding ${bindingName}, ${binding.spec.access}`)
}

/** What is said of a stage that the one before did not reach. */
function after(judge: (fact: ServiceFact) => Judgement | undefined, before: string) {
  return (fact: ServiceFact): Judgement | undefined => {
    if (fact.bindingName === undefined) return undefined
    return conditionOf(fact.binding, before)?.status === 'True' ? judge(fact) : open('not reached yet')
  }
}

const proofStep = after(({ kind, binding }) => {
  const proven = conditionOf(binding, 'Proven')
  const judged = fromCondition(proven, cureOf(proven?.reason, kind))
  return judged.mark === 'ok' ? ok('the platform tried what it can do, and what it must not') : judged
}, 'Issued')

const deliveredStep = after(({ kind, binding }) => {
  const ready = conditionOf(binding, 'Ready')
  const judged = fromCondition(ready, cureOf(ready?.reason, kind))
  const version = binding?.status?.version
  return judged.mark === 'ok' ? ok(`the Secret has ${version === undefined ? 'it' : `version ${version}`}`) : judged
}, 'Proven')

/** Whether the pods have the credential that is delivered now: one that was issued after a pod began is not in its variables. */
function usedStep({ bindingName, binding, application, pods }: ServiceFact, { now }: Facts): Judgement | undefined {
  if (bindingName === undefined) return undefined
  if (binding?.status?.binding === undefined) return open('not reached yet')
  if (pods.length === 0) return open('no pod that runs has it')
  const slots = binding.status.slots ?? []
  const current = slots.find(({ state }) => state === 'Delivered')
  const former = slots.find(({ state }) => state === 'Draining')
  // The API server keeps whole seconds of when a pod was made.
  const begin = Math.trunc(Date.parse(current?.issuedAt ?? '') / 1000) * 1000
  const late = pods.filter(({ metadata }) => Date.parse(metadata.creationTimestamp ?? '') < begin)
  const [first] = late
  if (first === undefined) return ok(`${pods.length === 1 ? '1 pod has' : `${pods.length} pods have`} it`)
  const text = `${first.metadata.name} began before the credential was replaced`
  const restart =
    application === undefined
      ? 'restart it: the platform replaces pods of Applications only'
      : `its pods are replaced one after the other; sekisho restart ${application} begins anew`
  const ends = former?.until
  return ends !== undefined && Date.parse(ends) > now.getTime()
    ? waiting(`${text}; the former one works until ${ends}`, restart)
    : wrong(`${text}, and the former one has ended`, restart)
}

/** In the order in which a credential passes them. */
export const credentialSteps: readonly Step[] = [
  { name: 'services', judge: entriesStep },
  { name: 'class', judge: ofEach(classStep) },
  ...serviceKinds.map(kind => ({
    name: kind.noun,
    judge: ofEach((fact, facts) => (fact.kind.type.kind === kind.type.kind ? serviceStep(fact, facts) : undefined)),
  })),
  { name: 'credential', judge: ofEach(credentialStep) },
  { name: 'proof', judge: ofEach(proofStep) },
  { name: 'delivered', judge: ofEach(deliveredStep) },
]

/** Of the pods, whose other steps come before it. */
export const usedSteps: readonly Step[] = [{ name: 'used', judge: ofEach(usedStep) }]
