// A moment as the clocks of a zone show it. Pure.

export type LocalTime = {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
}

/** The zone of this computer, as IANA names it. */
export function ownZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}

export function localTime(moment: Date, zone: string): LocalTime {
  const format = new Intl.DateTimeFormat('en-u-ca-iso8601', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  const parts = new Map(format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]))
  const part = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0
  return {
    year: part('year'),
    month: part('month'),
    day: part('day'),
    hour: part('hour'),
    minute: part('minute'),
    second: part('second'),
  }
}

/** `Tue 2026-11-24 14:00:00 Europe/Berlin (13:00:00Z)`. */
export function inZone(moment: Date, zone: string): string {
  const { year, month, day, hour, minute, second } = localTime(moment, zone)
  const two = (value: number): string => String(value).padStart(2, '0')
  const weekday = new Intl.DateTimeFormat('en', { timeZone: zone, weekday: 'short' }).format(moment)
  const utc = moment.toISOString()
  const date = `${year}-${two(month)}-${two(day)}`
  const elsewhere = zone === 'UTC' ? '' : ` (${utc.slice(0, 10) === date ? '' : `${utc.slice(0, 10)} `}${utc.slice(11, 19)}Z)`
  return `${weekday} ${date} ${two(hour)}:${two(minute)}:${two(second)} ${zone}${elsewhere}`
}
