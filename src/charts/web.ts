// The built-in chart `web`: a Deployment for each process, and a Service and an Ingress for the process `web`.
// Deterministic: the same input renders the same objects with the same names. Its pods must satisfy Pod Security `restricted`.
import { App, Chart } from 'cdk8s'
import { k8s } from 'cdk8s-plus-33'
import { labels } from '../api/names.ts'
import type { ChartInput, ChartProcess } from './chart-input.ts'
import { restrictedContainerSecurity, restrictedPodSecurity, scratchMount, scratchVolume } from './restricted-pod.ts'

/** The attribute that makes the root file system writable, for images that write beside their code. */
export const writableRootAttribute = 'writable-root-filesystem'

const portName = 'http'
const rolloutDeadlineSeconds = 120
/** The ingress drops an endpoint while the process still answers: without this pause a rollout loses requests. */
const drainSeconds = 3

function selector(input: ChartInput, process: ChartProcess): Record<string, string> {
  return { [labels.application]: input.name, [labels.process]: process.name }
}

/** The platform's variables win over the Application's: a process can rely on PORT and SEKISHO_COMMIT. */
function environment(input: ChartInput, process: ChartProcess): k8s.EnvVar[] {
  const platform: k8s.EnvVar[] = []
  if (process.port !== undefined) platform.push({ name: 'PORT', value: String(process.port) })
  if (input.commit !== undefined) platform.push({ name: 'SEKISHO_COMMIT', value: input.commit })
  const reserved = new Set(platform.map(variable => variable.name))
  return [...input.env.filter(variable => !reserved.has(variable.name)), ...platform]
}

function readiness(process: ChartProcess): { readinessProbe?: k8s.Probe } {
  if (process.port === undefined) return {}
  const port = k8s.IntOrString.fromNumber(process.port)
  const check = process.healthPath === undefined ? { tcpSocket: { port } } : { httpGet: { path: process.healthPath, port } }
  return { readinessProbe: { ...check, periodSeconds: 1, timeoutSeconds: 2, failureThreshold: 3 } }
}

function container(input: ChartInput, process: ChartProcess): k8s.Container {
  const memory = k8s.Quantity.fromString(process.memory)
  return {
    name: process.name,
    image: input.image,
    ...(process.command ? { command: [...process.command] } : {}),
    ...(process.args ? { args: [...process.args] } : {}),
    env: environment(input, process),
    ...(process.port === undefined ? {} : { ports: [{ name: portName, containerPort: process.port }] }),
    ...readiness(process),
    lifecycle: { preStop: { sleep: { seconds: drainSeconds } } },
    resources: { requests: { cpu: k8s.Quantity.fromString(process.cpu), memory }, limits: { memory } },
    securityContext: restrictedContainerSecurity({ readOnlyRootFilesystem: input.attributes[writableRootAttribute] !== 'true' }),
    volumeMounts: [scratchMount],
  }
}

function addDeployment(chart: Chart, input: ChartInput, process: ChartProcess): void {
  new k8s.KubeDeployment(chart, `deployment-${process.name}`, {
    metadata: { name: `${input.name}-${process.name}`, labels: selector(input, process) },
    spec: {
      replicas: process.replicas,
      revisionHistoryLimit: 3,
      progressDeadlineSeconds: rolloutDeadlineSeconds,
      selector: { matchLabels: selector(input, process) },
      strategy: {
        type: 'RollingUpdate',
        rollingUpdate: { maxUnavailable: k8s.IntOrString.fromNumber(0), maxSurge: k8s.IntOrString.fromNumber(1) },
      },
      template: {
        metadata: { labels: selector(input, process) },
        spec: {
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          ...(input.imagePullSecrets ? { imagePullSecrets: input.imagePullSecrets.map(name => ({ name })) } : {}),
          securityContext: restrictedPodSecurity,
          containers: [container(input, process)],
          volumes: [scratchVolume],
        },
      },
    },
  })
}

function addService(chart: Chart, input: ChartInput, process: ChartProcess): void {
  new k8s.KubeService(chart, 'service', {
    metadata: { name: input.name },
    spec: {
      selector: selector(input, process),
      ports: [{ name: portName, port: 80, targetPort: k8s.IntOrString.fromString(portName) }],
    },
  })
}

function addIngress(chart: Chart, input: ChartInput): void {
  const backend = { service: { name: input.name, port: { name: portName } } }
  new k8s.KubeIngress(chart, 'ingress', {
    metadata: { name: input.name },
    spec: {
      ingressClassName: input.ingressClassName,
      rules: input.hosts.map(host => ({ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } })),
      ...(input.tls ? { tls: [{ hosts: [...input.hosts] }] } : {}),
    },
  })
}

/** The chart function. Only the process `web` gets a Service and an Ingress, and only with a port and with hosts. */
export function chart(input: ChartInput): object[] {
  const rendered = new Chart(new App(), 'application', { namespace: input.namespace, disableResourceNameHashes: true })
  for (const process of input.processes) addDeployment(rendered, input, process)
  const web = input.processes.find(process => process.name === 'web' && process.port !== undefined)
  if (web && input.hosts.length > 0) {
    addService(rendered, input, web)
    addIngress(rendered, input)
  }
  return rendered.toJson()
}
