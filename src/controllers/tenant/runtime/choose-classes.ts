// Which RuntimeClasses the pods of a tenant run with, what both namespaces say about it to admission, and why a class cannot be used. Pure.
import type { RuntimeClass } from '../../../api/builtin/index.ts'
import { isolatedRuntimeTaintsAnnotation, labels, runtimeTaintsAnnotation } from '../../../api/names.ts'
import type { Tenant } from '../../../api/tenancy/tenant.ts'
import { runtimeSettings } from './runtime-settings.ts'

/** What the operator of the platform chose for Tenants that name nothing. */
export type DefaultClasses = { readonly [name in keyof typeof runtimeSettings]: string | undefined }

/** The name of a class, and the field or setting that names it. */
type Named = { readonly name: string; readonly namedBy: string }
type Place = 'applications' | 'isolated' | 'builds'
export type ChosenClasses = { readonly [place in Place]?: Named }

/** The label and the annotation of a namespace about one class. */
type Marks = {
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}
export type ClassMarks = { readonly application: Marks; readonly build: Marks }

type ClassOf = (name: string) => RuntimeClass | undefined

const none: Marks = { labels: {}, annotations: {} }

/** The Tenant decides before the platform; pods that have no class of their own have that of the others. */
export function chosenClasses({ spec }: Pick<Tenant, 'spec'>, defaults: DefaultClasses): ChosenClasses {
  const named = (field: keyof DefaultClasses): Named | undefined => {
    const [own, ofPlatform] = [spec[field], defaults[field]]
    if (own !== undefined) return { name: own, namedBy: `spec.${field}` }
    return ofPlatform === undefined ? undefined : { name: ofPlatform, namedBy: runtimeSettings[field].name }
  }
  const applications = named('runtimeClass')
  const isolated = named('isolatedRuntimeClass') ?? applications
  const builds = named('buildRuntimeClass') ?? applications
  return {
    ...(applications === undefined ? {} : { applications }),
    ...(isolated === undefined ? {} : { isolated }),
    ...(builds === undefined ? {} : { builds }),
  }
}

/** The names alone, as the status has them. */
export function classNames(chosen: ChosenClasses): { readonly [place in Place]?: string } {
  return Object.fromEntries(Object.entries(chosen).map(([place, { name }]) => [place, name]))
}

function taintsOf(found: RuntimeClass | undefined): readonly string[] {
  return (found?.scheduling?.tolerations ?? []).map(({ key = '' }) => key)
}

/** What both namespaces say, also about a class that cannot be used: its pods are then refused, and do not run without it. */
export function classMarks({ applications, isolated, builds }: ChosenClasses, classOf: ClassOf): ClassMarks {
  const taints = (chosen: Named | undefined): string =>
    chosen === undefined ? '' : taintsOf(classOf(chosen.name)).toSorted().join(',')
  const marks = (label: string, annotation: string, chosen: Named | undefined): Marks => ({
    labels: { [label]: chosen?.name ?? '' },
    annotations: { [annotation]: taints(chosen) },
  })
  const own = marks(labels.runtimeClass, runtimeTaintsAnnotation, applications)
  const ofIsolated = marks(labels.isolatedRuntimeClass, isolatedRuntimeTaintsAnnotation, isolated)
  return {
    application: isolated === undefined ? none : both(own, ofIsolated),
    build: builds === undefined ? none : marks(labels.runtimeClass, runtimeTaintsAnnotation, builds),
  }
}

function both(one: Marks, other: Marks): Marks {
  return { labels: { ...one.labels, ...other.labels }, annotations: { ...one.annotations, ...other.annotations } }
}

/** Why pods cannot run with a chosen class, with the cure; undefined when they can. */
export function classProblem(chosen: ChosenClasses, classOf: ClassOf): string | undefined {
  for (const { name, namedBy } of Object.values(chosen)) {
    const found = classOf(name)
    if (found === undefined)
      return `there is no RuntimeClass ${name}, which ${namedBy} names: create it, or name one that \`kubectl get runtimeclasses\` shows`
    if (taintsOf(found).includes(''))
      return `RuntimeClass ${name}, which ${namedBy} names, tolerates every taint: give each of its scheduling.tolerations a key`
  }
  return undefined
}
