// The container of a process or of a scheduled process: program, environment, resources and security. Its pods satisfy Pod
// Security `restricted`.
import type { k8s } from 'cdk8s-plus-33'
import { appSecretSecretName, writableRootAttribute } from '../../../api/names.ts'
import { atMost } from '../../../lib/text/quantity.ts'
import type { ChartCron, ChartInput, ChartProcess } from '../chart-input.ts'
import { restrictedContainerSecurity, restrictedPodSecurity, scratchMount, scratchVolume } from '../restricted-pod.ts'
import { quantity } from './quantities.ts'

/** What is reserved of `ephemeralStorage`; the rest is used when the node has it. */
const leastStorage = '32Mi'

/** The variables that the platform sets. */
type PlatformVariables = { readonly port?: number }

type Sources = ChartInput['env'][number]

function variable({ name, value, from }: Sources): k8s.EnvVar {
  if (from?.configMap) return { name, valueFrom: { configMapKeyRef: { name: from.configMap.name, key: from.configMap.key } } }
  if (from?.secret)
    return { name, valueFrom: { secretKeyRef: { name: appSecretSecretName(from.secret.name), key: from.secret.key } } }
  return { name, value: value ?? '' }
}

/** The platform's variables win over the Application's: a process can rely on PORT and SEKISHO_COMMIT. */
function environment(input: ChartInput, { port }: PlatformVariables): k8s.EnvVar[] {
  const platform: k8s.EnvVar[] = []
  if (port !== undefined) platform.push({ name: 'PORT', value: String(port) })
  if (input.commit !== undefined) platform.push({ name: 'SEKISHO_COMMIT', value: input.commit })
  const reserved = new Set(platform.map(({ name }) => name))
  return [...input.env.filter(({ name }) => !reserved.has(name)).map(variable), ...platform]
}

function environmentSources({ envFrom = [] }: ChartInput): { envFrom?: k8s.EnvFromSource[] } {
  const sources = envFrom.map(({ configMap, secret }) =>
    configMap === undefined ? { secretRef: { name: appSecretSecretName(secret ?? '') } } : { configMapRef: { name: configMap } },
  )
  return sources.length === 0 ? {} : { envFrom: sources }
}

type Resources = Pick<ChartProcess | ChartCron, 'cpu' | 'cpuLimit' | 'memory' | 'ephemeralStorage'>

function resources({ cpu, cpuLimit, memory, ephemeralStorage }: Resources): k8s.ResourceRequirements {
  const requests: Record<string, k8s.Quantity> = { cpu: quantity(cpu), memory: quantity(memory) }
  const limits: Record<string, k8s.Quantity> = { memory: quantity(memory) }
  if (cpuLimit !== undefined) limits['cpu'] = quantity(cpuLimit)
  if (ephemeralStorage !== undefined) {
    limits['ephemeral-storage'] = quantity(ephemeralStorage)
    requests['ephemeral-storage'] = quantity(atMost(ephemeralStorage, leastStorage))
  }
  return { requests, limits }
}

type Program = Resources & Pick<ChartProcess | ChartCron, 'name' | 'command' | 'args'> & PlatformVariables

/** What every container of the Application has; probes, ports and further mounts are the caller's. */
export function container(input: ChartInput, program: Program): k8s.Container & { readonly volumeMounts: k8s.VolumeMount[] } {
  const { name, command, args } = program
  return {
    name,
    image: input.image,
    ...(command ? { command: [...command] } : {}),
    ...(args ? { args: [...args] } : {}),
    env: environment(input, program),
    ...environmentSources(input),
    resources: resources(program),
    // The end of the log stays with the exit when the pod is gone, as after a roll back.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    securityContext: restrictedContainerSecurity({ readOnlyRootFilesystem: input.attributes[writableRootAttribute] !== 'true' }),
    volumeMounts: [scratchMount],
  }
}

/** What every pod of the Application has beside its container. `/tmp` may hold what the container may write at all. */
export function podOf(
  input: ChartInput,
  { ephemeralStorage }: Pick<Resources, 'ephemeralStorage'>,
): Pick<k8s.PodSpec, 'automountServiceAccountToken' | 'enableServiceLinks' | 'imagePullSecrets' | 'securityContext'> & {
  readonly volumes: k8s.Volume[]
} {
  const scratch =
    ephemeralStorage === undefined ? scratchVolume : { ...scratchVolume, emptyDir: { sizeLimit: quantity(ephemeralStorage) } }
  return {
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    ...(input.imagePullSecrets ? { imagePullSecrets: input.imagePullSecrets.map(name => ({ name })) } : {}),
    securityContext: restrictedPodSecurity,
    volumes: [scratch],
  }
}
