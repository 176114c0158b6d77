// What the preview of a fork is made of: the template without what strangers must not see, isolated, and small. Whoever
// approved the commit looked at it once; what it does when it runs is the stranger's choice. Pure. What isolation means:
// src/controllers/application/rendering/isolation.ts.
import type { AppPipeline } from '../../../api/apps/app-pipeline.ts'
import { atMost } from '../../../lib/text/quantity.ts'

type Template = AppPipeline['spec']['template']
type Process = NonNullable<Template['application']['processes']>[number]
type Cron = NonNullable<Template['application']['cron']>[number]

/** One pod of each process, and each pod at most this. The limits of the tenant hold besides, for everything together. */
export const maxOfFork = { cpu: '250m', cpuLimit: '500m', memory: '512Mi', ephemeralStorage: '1Gi' } as const

function small<P extends Process | Cron>(program: P): P {
  return {
    ...program,
    cpu: atMost(program.cpu, maxOfFork.cpu),
    cpuLimit: atMost(program.cpuLimit ?? maxOfFork.cpuLimit, maxOfFork.cpuLimit),
    memory: atMost(program.memory, maxOfFork.memory),
    ephemeralStorage: atMost(program.ephemeralStorage ?? maxOfFork.ephemeralStorage, maxOfFork.ephemeralStorage),
  }
}

function onePod({ autoscaling: _scales, ...process }: Process): Process {
  return { ...small(process), replicas: Math.min(process.replicas, 1) }
}

const isIn = (names: readonly string[] | undefined, name: string | undefined): boolean =>
  name !== undefined && names?.includes(name) === true

/** Sets a field only where there was one: a template that leaves it out keeps leaving it out. */
function kept<K extends string, T>(name: K, value: T | undefined): { readonly [N in K]?: T } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [N in K]?: T }
}

/** The Application of the template for a fork. */
function applicationOf({ application, public: open = {} }: Template): Template['application'] {
  const { env, envFrom, services, processes, cron, replicas, ...rest } = application
  return {
    ...rest,
    ...kept(
      'env',
      env?.filter(({ name }) => isIn(open.env, name)),
    ),
    ...kept(
      'envFrom',
      envFrom?.filter(({ secret, configMap }) => isIn(open.secrets, secret) || isIn(open.configMaps, configMap)),
    ),
    ...kept(
      'services',
      services?.filter(({ name }) => isIn(open.services, name)),
    ),
    ...kept('processes', processes?.map(onePod)),
    ...kept('cron', cron?.map(small)),
    ...kept('replicas', replicas === undefined ? undefined : Math.min(replicas, 1)),
    isolated: true,
  }
}

/** A build never gets an AppSecret: the RemoteSync controller refuses them to commits of forks as well. */
function buildOf({ build, public: open = {} }: Template): Template['build'] {
  const { env, secrets: _secrets, dockerfile, ...rest } = build
  const shown = <T extends { readonly name: string }>(all: readonly T[] | undefined) =>
    all?.filter(({ name }) => isIn(open.env, name))
  const file = dockerfile && { ...dockerfile, ...kept('args', shown(dockerfile.args)) }
  return { ...rest, ...kept('env', shown(env)), ...kept('dockerfile', file) }
}

/** The template as the preview of a fork is made of it. */
export function templateOfFork(template: Template): Template {
  const services = template.services?.filter(({ name }) => isIn(template.public?.services, name))
  return { ...template, ...kept('services', services), application: applicationOf(template), build: buildOf(template) }
}
