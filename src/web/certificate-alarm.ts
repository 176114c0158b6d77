// Reports a serving certificate that should have been renewed but was not: an error in the log, every hour, during the last
// fifth of its lifetime. Renewal happens far earlier, so an alarm means that renewal fails. It renews nothing.
import { X509Certificate } from 'node:crypto'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { type Periodic, periodic } from '../lib/periodic.ts'
import type { Certificate } from './tls.ts'

const alarmShare = 1 / 5
const hourMilliseconds = 3_600_000

/** Checks the current certificate at the start and every hour. */
export function certificateAlarm(
  certificate: Pick<Certificate, 'current'>,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Periodic {
  const check = async (): Promise<void> => {
    const { subject, validTo, validFromDate, validToDate } = new X509Certificate(certificate.current().certificate)
    const left = validToDate.getTime() - clock.now().getTime()
    if (left >= (validToDate.getTime() - validFromDate.getTime()) * alarmShare) return
    const hours = Math.floor(left / hourMilliseconds)
    log.error({ subject, validTo, hours }, 'serving certificate expires soon and was not renewed')
  }
  return periodic({ name: 'certificate expiry check', everyMilliseconds: hourMilliseconds, work: check, clock, log })
}
