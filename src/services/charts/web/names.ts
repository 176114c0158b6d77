// The names of what the chart renders: `<application>-<part>`, and short enough for the kind, in a way that keeps them stable
// and apart.
import { boundedName } from '../../../lib/text/bounded-name.ts'

/** A Service is a DNS label (RFC 1035); a CronJob leaves room for the 11 characters that its Jobs add. */
export const maxNameLengths = { service: 63, cronJob: 52, other: 253 } as const

/** A name that is too long is cut and ends in a hash of the whole, so that two that begin alike stay apart. */
export function objectName(application: string, part: string, longest: number): string {
  return boundedName(`${application}-${part}`, longest, { of: `${application}/${part}`, length: 10 })
}

/** Of a Deployment and of its autoscaler. */
export function deploymentName(application: string, process: string): string {
  return objectName(application, process, maxNameLengths.other)
}

/** The process `web` is reached by the name of the Application, any other by both names. */
export function serviceName(application: string, process: string): string {
  return process === 'web' ? application : objectName(application, process, maxNameLengths.service)
}

export function cronJobName(application: string, cron: string): string {
  return objectName(application, cron, maxNameLengths.cronJob)
}

export function volumeClaimName(application: string, volume: string): string {
  return objectName(application, volume, maxNameLengths.other)
}
