// `sekisho keys status` and `sekisho keys reseal`, for platform admins: which keys seal what the platform stores, and whether a
// former key can be removed. The processes seal again by themselves; `reseal` follows them until they are done.
import { AppError } from '../../lib/errors.ts'
import { asObject, integerAt, isJsonObject, textAt } from '../../lib/json/json-value.ts'
import { json, type PlainFormat, table } from '../output.ts'
import type { CommandContext } from './context.ts'

type SealingKey = { readonly fingerprint: string; readonly use: 'seals' | 'opens'; readonly rows: number }
/** What a process sealed, as it counted at that time. */
type ProcessKeys = {
  readonly process: string
  readonly countedAt: string
  readonly keys: readonly SealingKey[]
  readonly unknownKey: number
}

const pollMilliseconds = 2000

function isKey(value: unknown): value is SealingKey {
  if (!isJsonObject(value) || textAt(value, 'fingerprint') === undefined) return false
  return (value['use'] === 'seals' || value['use'] === 'opens') && integerAt(value, 'rows') !== undefined
}

function isProcess(value: unknown): value is ProcessKeys {
  if (!isJsonObject(value) || textAt(value, 'process') === undefined || textAt(value, 'countedAt') === undefined) return false
  const { keys } = value
  return Array.isArray(keys) && keys.length > 0 && keys.every(isKey) && integerAt(value, 'unknownKey') !== undefined
}

type Keys = { readonly processes: readonly ProcessKeys[]; readonly problems: readonly string[] }

async function readKeys(context: CommandContext): Promise<Keys> {
  const answer = asObject(await (await context.api()).json('/api/v1/keys'))
  const { processes, problems } = answer ?? {}
  const valid = Array.isArray(processes) && processes.length > 0 && processes.every(isProcess)
  if (valid && Array.isArray(problems) && problems.every(isText)) return { processes, problems }
  throw new AppError('upstream_failed', 'the response of the platform is not valid: is this sekisho up to date?')
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** What has to be sealed again. */
function formerRows({ keys }: ProcessKeys): number {
  return keys.slice(1).reduce((sum, { rows }) => sum + rows, 0)
}

function verdict({ use, rows }: SealingKey, { unknownKey }: ProcessKeys): string {
  if (use === 'seals') return 'in use'
  if (rows > 0) return 'still needed: values are being sealed again'
  return unknownKey === 0 ? 'can be removed' : 'not needed'
}

function shown(processes: readonly ProcessKeys[]): string {
  const rows = processes.flatMap(process => [
    ...process.keys.map(key => [
      process.process,
      key.fingerprint,
      key.use,
      String(key.rows),
      process.countedAt,
      verdict(key, process),
    ]),
    ...(process.unknownKey === 0
      ? []
      : [
          [
            process.process,
            'unknown',
            '',
            String(process.unknownKey),
            process.countedAt,
            'cannot be opened: add its key at the end',
          ],
        ]),
  ])
  return table(['PROCESS', 'KEY', 'USE', 'VALUES', 'COUNTED AT', 'VERDICT'], rows)
}

/**
 * Prints the keyrings by fingerprint, and how many values each key sealed; problems of keys go to standard error in every
 * format.
 */
export async function keysStatus(context: CommandContext, options: { readonly output: PlainFormat }): Promise<void> {
  const { processes, problems } = await readKeys(context)
  context.terminal.result(options.output === 'json' ? json(processes) : shown(processes))
  for (const problem of problems) context.say(`problem: ${problem}`)
}

type ResealOptions = { readonly output: PlainFormat; readonly dryRun?: boolean; readonly timeout: string }

/**
 * Resolves when no process has values of a former key. Rejects with `unavailable` when that takes longer than the timeout, and
 * with `conflict` when values cannot be opened by any key.
 */
export async function keysReseal(context: CommandContext, options: ResealOptions): Promise<void> {
  const { clock, say } = context
  const until = clock.now().getTime() + Number(options.timeout) * 1000
  let { processes } = await readKeys(context)
  const left = (): number => processes.reduce((sum, process) => sum + formerRows(process), 0)
  let said: number | undefined
  if (options.dryRun !== true) {
    while (left() > 0) {
      if (clock.now().getTime() >= until)
        throw new AppError(
          'unavailable',
          `${left()} values are still sealed by former keys: see the log of the platform, or wait longer`,
        )
      if (left() !== said) say(`${left()} values to seal again`)
      said = left()
      await clock.sleep(pollMilliseconds)
      processes = (await readKeys(context)).processes
    }
  }
  const unknown = processes.reduce((sum, { unknownKey }) => sum + unknownKey, 0)
  if (unknown > 0 && options.dryRun !== true)
    throw new AppError(
      'conflict',
      `${unknown} values cannot be opened by any key of the keyring: add the key that sealed them at the end of SEKISHO_SEALING_KEYS`,
    )
  context.terminal.result(
    options.output === 'json'
      ? json({ dryRun: options.dryRun === true, toSeal: left(), processes })
      : options.dryRun === true
        ? `${left()} values would be sealed again\n${shown(processes)}`
        : `everything is sealed by the first key of each process\n${shown(processes)}`,
  )
}
