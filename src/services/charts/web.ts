// The built-in chart `web`: a Deployment for each process, a CronJob for each schedule, a claim for each volume, Services, and
// an Ingress for the process `web`. Deterministic: the same input renders the same objects with the same names. Its parts are
// in web/.
import { App, Chart } from 'cdk8s'
import type { ChartInput } from './chart-input.ts'
import { addCronJob } from './web/cron-job.ts'
import { addDeployment } from './web/deployment.ts'
import { addIngress, addService } from './web/exposure.ts'
import { addVolumeClaim } from './web/volumes.ts'

/** The chart function. Only the process `web` gets an Ingress, and only with a port and with hosts. */
export function chart(input: ChartInput): object[] {
  const rendered = new Chart(new App(), 'application', { namespace: input.namespace, disableResourceNameHashes: true })
  for (const volume of input.volumes ?? []) addVolumeClaim(rendered, input, volume)
  for (const process of input.processes) addDeployment(rendered, input, process)
  for (const cron of input.cron ?? []) addCronJob(rendered, input, cron)
  const served = input.processes.filter(({ port, name }) => port !== undefined && (name !== 'web' || input.hosts.length > 0))
  for (const process of served) addService(rendered, input, process)
  if (served.some(({ name }) => name === 'web')) addIngress(rendered, input)
  return rendered.toJson()
}
