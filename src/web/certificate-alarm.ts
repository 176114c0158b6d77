// Tells when a serving certificate that should have been renewed was not: an error in the log, every hour, from a fifth of its life before its
// end. Whoever renews does so far earlier; so an alarm means that renewing fails. It renews nothing.
import { X509Certificate } from 'node:crypto'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import type { Certificate } from './tls.ts'

const alarmShare = 1 / 5
const defaultEveryMilliseconds = 3_600_000

/** Whole hours until the end, negative when it is over; undefined while there is more than a fifth of its life left. Pure. */
export function hoursToAlarmAbout(certificatePem: string, now: Date): number | undefined {
  const { validFromDate, validToDate } = new X509Certificate(certificatePem)
  const left = validToDate.getTime() - now.getTime()
  return left < (validToDate.getTime() - validFromDate.getTime()) * alarmShare ? Math.floor(left / 3_600_000) : undefined
}

/** Looks at once and every hour until the returned function is called. */
export function watchExpiry(
  certificate: Pick<Certificate, 'current'>,
  deps: { readonly clock: Pick<Clock, 'now'>; readonly log: Log; readonly everyMilliseconds?: number },
): () => void {
  const look = (): void => {
    const { subject, validTo } = new X509Certificate(certificate.current().certificate)
    const hours = hoursToAlarmAbout(certificate.current().certificate, deps.clock.now())
    if (hours !== undefined) deps.log.error({ subject, validTo, hours }, 'a serving certificate ends soon and was not renewed')
  }
  look()
  const timer = setInterval(look, deps.everyMilliseconds ?? defaultEveryMilliseconds)
  timer.unref()
  return () => clearInterval(timer)
}
