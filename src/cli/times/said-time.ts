// Times as people say them: RFC 3339, a date, a duration, `yesterday`, `last tuesday 14:00`, `3 hours ago`. What names no zone
// is in the zone of the person's computer, and the answer says which time was understood. Pure.
import { inZone, type LocalTime, localTime } from './zoned-time.ts'

export type SaidTime = {
  readonly at: Date
  /** What was understood, with the zone: to be shown. */
  readonly text: string
}

/** Now, and the zone of the person as IANA names it, such as `Europe/Berlin`. */
export type Here = { readonly now: Date; readonly zone: string }

/** For errors. */
export const timeExamples = '7d, 90m, 3 hours ago, today, yesterday 09:30, last tuesday 14:00, 2026-11-24, 2026-11-24T14:00:00Z'

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }
const weekdays = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']
/** As long as the calendar goes on by 24 hours, whatever the clocks do. */
const dayMilliseconds = 86_400_000

/** Undefined for a text that is no time. A time in the future is one: the caller says whether it makes sense. */
export function saidTime(text: string, here: Here): SaidTime | undefined {
  const said = text.trim().toLowerCase().replaceAll(/\s+/g, ' ')
  const at = absolute(said) ?? ago(said, here) ?? onDay(said, here)
  return at === undefined || Number.isNaN(at.getTime()) ? undefined : { at, text: inZone(at, here.zone) }
}

/** RFC 3339 with a zone. A date that does not exist, such as 31 April, is none. */
function absolute(said: string): Date | undefined {
  const match = /^(\d{4}-\d\d-\d\d)[t ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)(z|[+-]\d\d:\d\d)$/.exec(said)
  const [, day = '', clock = '', zone = ''] = match ?? []
  if (match === null || dayOf(day) === undefined) return undefined
  return new Date(`${day}T${clock.length === 5 ? `${clock}:00` : clock.slice(0, 12)}${zone.toUpperCase()}`)
}

/** `7d`, `7d ago`, `3 hours ago`. */
function ago(said: string, { now }: Here): Date | undefined {
  const match = /^(\d{1,7}) ?(s|m|h|d|w|(?:second|minute|hour|day|week)s?)( ago)?$/.exec(said)
  const [, count = '', unit = ''] = match ?? []
  return match === null ? undefined : new Date(now.getTime() - Number(count) * (secondsOf[unit.charAt(0)] ?? 0) * 1000)
}

/** `yesterday`, `tuesday`, `last tuesday`, `2026-11-24`, or nothing (today), and a time of that day, else its beginning. */
function onDay(said: string, here: Here): Date | undefined {
  if (said === 'now') return here.now
  const match = /^(?:(\d{4}-\d\d-\d\d)|(today|yesterday)|((?:last )?[a-z]{3,9}))?[t ]?(?:(?:at )?(.+))?$/.exec(said)
  if (match === null || said === '') return undefined
  const [, date, word, weekday, clock] = match
  const time = clock === undefined ? midnight : timeOfDay(clock)
  if (time === undefined || (clock === undefined && date === undefined && word === undefined && weekday === undefined))
    return undefined
  if (date !== undefined) return momentOf(dayOf(date), time, here)
  const today = localTime(here.now, here.zone)
  if (word !== undefined) return momentOf(shifted(today, word === 'today' ? 0 : -1), time, here)
  if (weekday !== undefined) return momentOf(lastWeekday(weekday, today), time, here)
  // A time alone is the last one of it.
  const moment = momentOf(shifted(today, 0), time, here)
  return moment !== undefined && moment > here.now ? momentOf(shifted(today, -1), time, here) : moment
}

type Day = Pick<LocalTime, 'year' | 'month' | 'day'>
type TimeOfDay = Pick<LocalTime, 'hour' | 'minute' | 'second'>
const midnight: TimeOfDay = { hour: 0, minute: 0, second: 0 }

function momentOf(day: Day | undefined, time: TimeOfDay, { zone }: Here): Date | undefined {
  return day && momentIn({ ...day, ...time }, zone)
}

function dayOf(text: string): Day | undefined {
  const [year = 0, month = 0, day = 0] = text.split('-').map(Number)
  const date = new Date(Date.UTC(year, month - 1, day))
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? { year, month, day } : undefined
}

function shifted({ year, month, day }: Day, days: number): Day {
  const date = new Date(Date.UTC(year, month - 1, day) + days * dayMilliseconds)
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() }
}

/** The last such day before today: on a Tuesday, `last tuesday` and `tuesday` are a week ago. */
function lastWeekday(text: string, today: Day): Day | undefined {
  const name = text.replace(/^last /, '')
  const wanted = weekdays.findIndex(weekday => weekday === name || weekday.slice(0, 3) === name)
  const now = new Date(Date.UTC(today.year, today.month - 1, today.day)).getUTCDay()
  return wanted === -1 ? undefined : shifted(today, -((now - wanted + 6) % 7) - 1)
}

/** `14:00`, `14:00:30`, `2pm`, `2:30 pm`, `noon`, `midnight`. */
function timeOfDay(text: string): TimeOfDay | undefined {
  if (text === 'noon') return { ...midnight, hour: 12 }
  if (text === 'midnight') return midnight
  const match = /^(\d{1,2})(?::(\d\d))?(?::(\d\d))? ?(am|pm)?$/.exec(text)
  if (match === null) return undefined
  const [, hours = '', minute = '0', second = '0', half] = match
  if (half === undefined && match[2] === undefined) return undefined
  if (half !== undefined && (Number(hours) < 1 || Number(hours) > 12)) return undefined
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (half === 'pm' ? 12 : 0)
  if (hour > 23 || Number(minute) > 59 || Number(second) > 59) return undefined
  return { hour, minute: Number(minute), second: Number(second) }
}

/** Where clocks are set back an hour comes twice: the first counts. Where they are set forward, the time after the gap. */
function momentIn(wanted: LocalTime, zone: string): Date {
  const asUtc = (time: LocalTime): number => Date.UTC(time.year, time.month - 1, time.day, time.hour, time.minute, time.second)
  const target = asUtc(wanted)
  const offsetAt = (moment: number): number => asUtc(localTime(new Date(moment), zone)) - moment
  // Offsets change by hours, and never twice within two days.
  const [before, after] = [offsetAt(target - dayMilliseconds), offsetAt(target + dayMilliseconds)]
  const exact = [target - before, target - after].filter(moment => moment + offsetAt(moment) === target)
  return new Date(exact.length > 0 ? Math.min(...exact) : target - before)
}
