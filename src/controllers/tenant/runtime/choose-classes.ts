// Which RuntimeClasses the pods of a tenant run with, what both namespaces say about it to admission, and why a class cannot be
// used. Pure.
import { drainTaint, type RuntimeClass, type Toleration } from '../../../api/builtin/index.ts'
import { isolatedRuntimeTolerationsAnnotation, labels, runtimeTolerationsAnnotation } from '../../../api/names.ts'
import type { Tenant } from '../../../api/tenancy/tenant.ts'
import { runtimeSettings } from './runtime-settings.ts'

/** What the operator of the platform chose for Tenants that name nothing. */
export type DefaultClasses = { readonly [name in keyof typeof runtimeSettings]: string | undefined }

/** The name of a class, and the field or setting that names it. */
type Named = { readonly name: string; readonly namedBy: string }
type Place = 'applications' | 'isolated' | 'builds'
export type ClassNames = { readonly [place in Place]?: string }
export type ChosenClasses = { readonly [place in Place]?: Named }

/** The label and the annotation of a namespace about one class. */
type Marks = {
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}
export type ClassMarks = { readonly application: Marks; readonly build: Marks }

type ClassOf = (name: string) => RuntimeClass | undefined

const none: Marks = { labels: {}, annotations: {} }

/**
 * The Tenant decides before the platform, its `runtimeClass` included; pods that have no class of their own have that of the
 * others.
 */
export function chosenClasses({ spec }: Pick<Tenant, 'spec'>, defaults: DefaultClasses): ChosenClasses {
  const named = (...fields: readonly (keyof DefaultClasses)[]): Named | undefined => {
    const own = fields.find(field => spec[field] !== undefined)
    if (own !== undefined) return { name: spec[own] ?? '', namedBy: `spec.${own}` }
    const ofPlatform = fields.find(field => defaults[field] !== undefined)
    return ofPlatform && { name: defaults[ofPlatform] ?? '', namedBy: runtimeSettings[ofPlatform].name }
  }
  const chosen = {
    applications: named('runtimeClass'),
    isolated: named('isolatedRuntimeClass', 'runtimeClass'),
    builds: named('buildRuntimeClass', 'runtimeClass'),
  }
  return Object.fromEntries(Object.entries(chosen).filter(([, one]) => one !== undefined))
}

/** The names alone. */
export function classNames(chosen: ChosenClasses): ClassNames {
  return Object.fromEntries(Object.entries(chosen).map(([place, { name }]) => [place, name]))
}

function tolerationsOf(found: RuntimeClass | undefined): readonly Toleration[] {
  return found?.scheduling?.tolerations ?? []
}

/** As admission compares the tolerations of pods (`tolerationExpression`). */
function tolerationText({ key = '', operator = '', value = '', effect = '' }: Toleration): string {
  return [key, operator === '' ? 'Equal' : operator, value, effect].join('|')
}

/** What both namespaces say, also about a class that cannot be used: its pods are then refused, and do not run without it. */
export function classMarks({ applications, isolated, builds }: ChosenClasses, classOf: ClassOf): ClassMarks {
  const tolerations = (chosen: Named | undefined): string =>
    chosen === undefined ? '' : tolerationsOf(classOf(chosen.name)).map(tolerationText).toSorted().join(',')
  const marks = (label: string, annotation: string, chosen: Named | undefined): Marks => ({
    labels: { [label]: chosen?.name ?? '' },
    annotations: { [annotation]: tolerations(chosen) },
  })
  const own = marks(labels.runtimeClass, runtimeTolerationsAnnotation, applications)
  const ofIsolated = marks(labels.isolatedRuntimeClass, isolatedRuntimeTolerationsAnnotation, isolated)
  return {
    application: isolated === undefined ? none : both(own, ofIsolated),
    build: builds === undefined ? none : marks(labels.runtimeClass, runtimeTolerationsAnnotation, builds),
  }
}

function both(one: Marks, other: Marks): Marks {
  return { labels: { ...one.labels, ...other.labels }, annotations: { ...one.annotations, ...other.annotations } }
}

/** Pods that tolerate nodes that are being drained return to them, which the rule pod-end refuses. */
function problemOf({ name, namedBy }: Named, classOf: ClassOf): string | undefined {
  const found = classOf(name)
  if (found === undefined)
    return `there is no RuntimeClass ${name}, which ${namedBy} names: create it, or name one that \`kubectl get runtimeclasses\` shows`
  const keys = tolerationsOf(found).map(({ key = '' }) => key)
  if (keys.includes(''))
    return `RuntimeClass ${name}, which ${namedBy} names, tolerates taints of any key: give each of its scheduling.tolerations a key`
  if (keys.includes(drainTaint))
    return `RuntimeClass ${name}, which ${namedBy} names, tolerates nodes that are being drained: remove ${drainTaint} from its scheduling.tolerations`
  return undefined
}

/** Why pods cannot run with a chosen class, with the cure; undefined when they can with each. */
export function classProblem(chosen: ChosenClasses, classOf: ClassOf): string | undefined {
  return Object.values(chosen)
    .map(named => problemOf(named, classOf))
    .find(problem => problem !== undefined)
}

/**
 * The classes with which new pods are created. A place whose class cannot be used keeps what it had: its pods are refused
 * meanwhile.
 */
export function classesInForce(chosen: ChosenClasses, classOf: ClassOf, before: ClassNames = {}): ClassNames {
  const inForce = Object.entries(chosen).map(([place, named]) => [
    place,
    problemOf(named, classOf) === undefined ? named.name : before[place as Place],
  ])
  return Object.fromEntries(inForce.filter(([, name]) => name !== undefined))
}
