// The Deployment of a process, and its autoscaler. With an autoscaler the Deployment has no `replicas`: the number belongs to
// the autoscaler.
import type { Chart } from 'cdk8s'
import { k8s } from 'cdk8s-plus-33'
import { drainSeconds } from '../../../api/apps/application/process-defaults.ts'
import { labels } from '../../../api/names.ts'
import { defined } from '../../../lib/json/defined.ts'
import type { ChartInput, ChartProcess } from '../chart-input.ts'
import { container, podOf } from './container.ts'
import { deploymentName } from './names.ts'
import { probes, progressDeadlineSeconds } from './probes.ts'
import { isExclusive, mountsOf } from './volumes.ts'

/** The name of the port of containers and Services. */
export const portName = 'http'

/** By which Deployments and Services find the pods of a process. */
export function selector(input: ChartInput, process: Pick<ChartProcess, 'name'>): Record<string, string> {
  return { [labels.application]: input.name, [labels.process]: process.name }
}

/** A volume that only one pod can mount does not let the next pod start before the last one has ended. */
function strategy(input: ChartInput, process: ChartProcess): k8s.DeploymentStrategy {
  if (isExclusive(input, process)) return { type: 'Recreate' }
  const { maxSurge, maxUnavailable } = process.rollout ?? { maxSurge: 1, maxUnavailable: 0 }
  const number = (value: number): k8s.IntOrString => k8s.IntOrString.fromNumber(value)
  return { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: number(maxUnavailable), maxSurge: number(maxSurge) } }
}

function replicas(input: ChartInput, process: ChartProcess): { replicas?: number } {
  if (input.suspend === true) return { replicas: 0 }
  return process.autoscaling ? {} : { replicas: process.replicas }
}

function podSpec(input: ChartInput, process: ChartProcess): k8s.PodSpec {
  const basic = container(input, process)
  const pod = podOf(input, process)
  const mounts = mountsOf(input, process)
  const { gracePeriodSeconds } = process
  return {
    ...pod,
    ...defined({ terminationGracePeriodSeconds: gracePeriodSeconds }),
    securityContext: { ...pod.securityContext, ...mounts.security },
    containers: [
      {
        ...basic,
        ...(process.port === undefined ? {} : { ports: [{ name: portName, containerPort: process.port }] }),
        ...probes(process),
        lifecycle: { preStop: { sleep: { seconds: drainSeconds } } },
        volumeMounts: [...basic.volumeMounts, ...mounts.volumeMounts],
      },
    ],
    volumes: [...pod.volumes, ...mounts.volumes],
  }
}

function addAutoscaler(chart: Chart, input: ChartInput, process: ChartProcess): void {
  if (process.autoscaling === undefined || input.suspend === true) return
  const { minReplicas, maxReplicas, cpuPercent } = process.autoscaling
  const name = deploymentName(input.name, process.name)
  new k8s.KubeHorizontalPodAutoscalerV2(chart, `autoscaler-${process.name}`, {
    metadata: { name },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
      minReplicas,
      maxReplicas,
      metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: cpuPercent } } }],
    },
  })
}

export function addDeployment(chart: Chart, input: ChartInput, process: ChartProcess): void {
  new k8s.KubeDeployment(chart, `deployment-${process.name}`, {
    metadata: { name: deploymentName(input.name, process.name), labels: selector(input, process) },
    spec: {
      ...replicas(input, process),
      revisionHistoryLimit: 3,
      progressDeadlineSeconds: progressDeadlineSeconds(process),
      selector: { matchLabels: selector(input, process) },
      strategy: strategy(input, process),
      template: { metadata: { labels: selector(input, process) }, spec: podSpec(input, process) },
    },
  })
  addAutoscaler(chart, input, process)
}
