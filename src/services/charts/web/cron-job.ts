// The CronJob of a process that runs by a schedule. A run is one pod; it is not repeated when it fails, and ends at its deadline.
import type { Chart } from 'cdk8s'
import { k8s } from 'cdk8s-plus-33'
import type { ChartCron, ChartInput } from '../chart-input.ts'
import { container, podOf } from './container.ts'
import { selector } from './deployment.ts'
import { cronJobName } from './names.ts'

/**
 * How late a run may start. Without a bound Kubernetes gives up on a schedule that missed a hundred times, such as a suspended
 * one.
 */
const startingDeadlineSeconds = 300

export function addCronJob(chart: Chart, input: ChartInput, cron: ChartCron): void {
  const metadata = { labels: selector(input, cron) }
  new k8s.KubeCronJob(chart, `cron-${cron.name}`, {
    metadata: { name: cronJobName(input.name, cron.name), ...metadata },
    spec: {
      schedule: cron.schedule,
      timeZone: cron.timeZone ?? 'Etc/UTC',
      concurrencyPolicy: cron.concurrency,
      startingDeadlineSeconds,
      successfulJobsHistoryLimit: cron.keepSucceeded,
      failedJobsHistoryLimit: cron.keepFailed,
      suspend: input.suspend === true,
      jobTemplate: {
        metadata,
        spec: {
          backoffLimit: 0,
          activeDeadlineSeconds: cron.timeoutSeconds,
          template: {
            metadata,
            spec: { ...podOf(input, cron), restartPolicy: 'Never', containers: [container(input, cron)] },
          },
        },
      },
    },
  })
}
