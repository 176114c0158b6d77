// Walks the steps and names the first one that is wrong. Pure.
import { domainClaims, serviceBindings } from '../../kubernetes/kinds.ts'
import { serviceKinds } from '../services/service-kinds.ts'
import type { Facts } from './facts.ts'
import { runSteps } from './run-steps.ts'
import { credentialSteps, usedSteps } from './service-steps.ts'
import { sourceSteps } from './source-steps.ts'
import { type Judgement, ok, type Step, wrong } from './step.ts'

export type WalkedStep = Judgement & { readonly step: string }

export type Walk = {
  readonly steps: readonly WalkedStep[]
  /** The first step that is wrong; without one, the first that waits. Undefined when everything is well. */
  readonly first: WalkedStep | undefined
}

function namesStep({ addresses, subject }: Facts): Judgement | undefined {
  if (addresses === undefined) return undefined
  return addresses.length > 0
    ? ok(`${subject.name} leads to ${addresses.join(', ')}`)
    : wrong(`${subject.name} has no address in DNS`, 'add a record that leads to the ingress of the platform')
}

function claimedStep({ addresses, application, subject, namespace }: Facts): Judgement | undefined {
  if (addresses === undefined) return undefined
  if (application === undefined)
    return wrong(
      `no Application in ${namespace} names ${subject.name}`,
      'add it to spec.domains or spec.redirects of the Application that answers there (kubectl edit application)',
    )
  const redirect = application.spec.redirects?.find(({ from }) => from === subject.name)
  return ok(`Application ${application.metadata.name} ${redirect === undefined ? 'names it' : `redirects it to ${redirect.to}`}`)
}

const domainSteps: readonly Step[] = [
  { name: 'named', judge: claimedStep },
  { name: 'dns', judge: namesStep },
]

/** By the kind that was asked about; of others the whole way from GitHub. */
const ways: ReadonlyMap<string, readonly Step[]> = new Map([
  [domainClaims.kind, [...domainSteps, ...runSteps]],
  ...[serviceBindings, ...serviceKinds.map(({ type }) => type)].map(
    ({ kind }) => [kind, [...credentialSteps, ...usedSteps]] as const,
  ),
])

/** All steps that belong to the way of the object. */
export function walk(facts: Facts): Walk {
  const all = ways.get(facts.subject.kind) ?? [...sourceSteps, ...runSteps]
  const steps = all.flatMap(({ name, judge }) => {
    const judgement = judge(facts)
    return judgement === undefined ? [] : [{ step: name, ...judgement }]
  })
  return { steps, first: steps.find(({ mark }) => mark === 'wrong') ?? steps.find(({ mark }) => mark === 'waiting') }
}
