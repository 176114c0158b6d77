// Which entries people ask for, as the platform takes it: times as they say them, and names as ids. A name that nobody has is an
// error with the near ones, never an empty answer; one that several had is an error with their ids.
import { parseUserSubject } from '../../../api/names.ts'
import { AppError } from '../../../lib/errors.ts'
import { defined } from '../../../lib/json/defined.ts'
import { asObject, listAt, objectAt, objectsAt, textAt } from '../../../lib/json/json-value.ts'
import { saidTime, timeExamples } from '../../times/said-time.ts'
import { ownZone } from '../../times/zoned-time.ts'
import type { CommandContext } from '../context.ts'

export type AuditFilterOptions = {
  readonly namespace?: string
  readonly what?: string
  readonly action?: string
  readonly actor?: string
  readonly person?: string
  readonly outcome?: string
  readonly object?: string
  readonly repository?: string
  readonly since?: string
  readonly until?: string
}

/** The filters for a request. Says on standard error which times and whom it understood. */
export async function filterQuery(context: CommandContext, options: AuditFilterOptions): Promise<URLSearchParams> {
  const query = new URLSearchParams()
  for (const name of ['namespace', 'what', 'action', 'outcome', 'object'] as const) {
    const value = options[name]
    if (value !== undefined) query.set(name, value)
  }
  const { since, until } = timeRange(context, options)
  if (since !== undefined) query.set('since', since.toISOString())
  if (until !== undefined) query.set('until', until.toISOString())
  if (options.actor !== undefined) query.set('actor', await actorOf(context, options))
  if (options.person !== undefined) query.set('person', await personOf(context, options.person, options))
  if (options.repository !== undefined) query.set('repository', await repositoryOf(context, options.repository, options))
  return query
}

export type TimeRange = { readonly since?: Date; readonly until?: Date }

/** Throws `invalid_request` for a text that is no time, a beginning in the future, and an end before the beginning. */
export function timeRange(
  context: Pick<CommandContext, 'clock' | 'say'>,
  options: Pick<AuditFilterOptions, 'since' | 'until'>,
): TimeRange {
  const now = context.clock.now()
  const read = (option: 'since' | 'until'): Date | undefined => {
    const text = options[option]
    if (text === undefined) return undefined
    const said = saidTime(text, { now, zone: ownZone() })
    if (said === undefined)
      throw new AppError('invalid_request', `--${option}: ${text} is no time; say it as in: ${timeExamples}`)
    context.say(`${option} ${said.text}`)
    return said.at
  }
  const [since, until] = [read('since'), read('until')]
  if (since !== undefined && since > now) throw new AppError('invalid_request', '--since is in the future')
  if (since !== undefined && until !== undefined && until <= since)
    throw new AppError('invalid_request', '--until must be later than --since')
  return { ...defined({ since }), ...defined({ until }) }
}

/** `system:serviceaccount:…` and `sekisho:…` are actors as well as people. */
async function actorOf(context: CommandContext, options: AuditFilterOptions): Promise<string> {
  const actor = options.actor ?? ''
  return actor.includes(':') ? actor : personOf(context, actor, options)
}

/** A subject is taken as it is; everything else is a login. */
export async function personOf(context: CommandContext, text: string, scope: { readonly namespace?: string }): Promise<string> {
  if (parseUserSubject(text) !== undefined) return text
  return idOf(context, { kind: 'person', name: text, cure: 'name them by subject, such as github|github.com|42' }, scope)
}

/** A number is an id: names of repositories have a slash. */
export async function repositoryOf(
  context: CommandContext,
  text: string,
  scope: { readonly namespace?: string },
): Promise<string> {
  if (/^[1-9][0-9]{0,14}$/.test(text)) return text
  if (!text.includes('/')) throw new AppError('invalid_request', `--repository: ${text} is neither an id nor owner/name`)
  return idOf(context, { kind: 'repository', name: text, cure: 'name it by id' }, scope)
}

type Named = { readonly kind: 'person' | 'repository'; readonly name: string; readonly cure: string }

async function idOf(
  context: CommandContext,
  { kind, name, cure }: Named,
  { namespace }: { readonly namespace?: string },
): Promise<string> {
  const query = new URLSearchParams({ [kind]: name, ...defined({ namespace }) })
  const found = objectAt(await (await context.api()).json('/api/v1/audit/names', query), kind)
  const ids = objectsAt(found, 'matches').flatMap(one => textAt(asObject(one), 'id') ?? [])
  const [id, ...others] = ids
  if (id === undefined) {
    const near = listAt(found, 'near').map(String)
    const hint = near.length === 0 ? '' : ` (did you mean ${near.join(', ')}?)`
    throw new AppError(
      'not_found',
      `no ${kind} in the newest 500,000 entries of ${namespace ?? 'the log'} has or had the name ${name}${hint}: ${cure}`,
    )
  }
  if (others.length > 0)
    throw new AppError('invalid_request', `${name} was the name of ${ids.length}: ${ids.join(', ')}; ${cure}`)
  context.say(`${name} is ${id}`)
  return id
}
