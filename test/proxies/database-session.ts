// PostgreSQL's wire protocol as the crash switch sees it. A write is what becomes durable at once: a statement outside a
// transaction that changed something, or the commit of a transaction that did.
import type { CrashSwitch } from './crash-switch.ts'
import { textsOf, type WireMessage } from './wire.ts'

/** By which name a statement is known that may change something; undefined for one that only reads. */
export type StatementName = (sql: string) => string | undefined

const writing = /^\s*(insert\s+into|update|delete\s+from)\s+("?[\w]+"?\."?[\w]+"?|"?[\w]+"?)/i

/** `INSERT desk.tokens`. */
export const rowStatement: StatementName = sql => {
  const match = writing.exec(sql)
  return match ? `${(match[1] ?? '').split(/\s/)[0]?.toUpperCase()} ${(match[2] ?? '').replaceAll('"', '')}` : undefined
}

/** One request of the driver: all messages up to the one after which it waits for ReadyForQuery. */
type Unit = { readonly statement: string | undefined; readonly write: string | undefined; readonly isCommit: boolean }

/** How many rows a statement changed or answered; one that counts none, such as CREATE ROLE, did one thing. */
function countOf(tag: string): number {
  return Number(/ (\d+)$/.exec(tag)?.[1] ?? 1)
}

/** What one connection says: which bytes may pass, and which of them the crash switch judges. */
export class DatabaseSession {
  private readonly crash: CrashSwitch
  private readonly nameOf: StatementName
  private readonly units: Unit[] = []
  private held: Buffer[] = []
  private answers: Buffer[] = []
  private sql = ''
  private inTransaction = false
  private changed: string[] = []
  private count = 0

  constructor(crash: CrashSwitch, nameOf: StatementName) {
    this.crash = crash
    this.nameOf = nameOf
  }

  /** The bytes to send to the server; undefined: the process is dead. */
  ask(message: WireMessage): Buffer | undefined {
    const { type, bytes, body } = message
    if (type === 'P') this.sql = textsOf(body)[1] ?? ''
    if (type === 'Q') this.sql = textsOf(body)[0] ?? ''
    // Messages that are not part of a query are passed at once.
    if (!['P', 'B', 'D', 'E', 'C', 'S', 'Q'].includes(type)) return bytes
    this.held.push(bytes)
    if (type !== 'S' && type !== 'Q') return Buffer.alloc(0)
    const unit = this.unitOf(this.sql)
    this.sql = ''
    if (unit.write !== undefined && !this.crash.mayPass(unit.write)) return undefined
    this.units.push(unit)
    const whole = Buffer.concat(this.held)
    this.held = []
    return whole
  }

  /** The bytes to send to the process; undefined: it is dead. */
  answer({ type, bytes, body }: WireMessage): Buffer | undefined {
    this.answers.push(bytes)
    if (type === 'C') this.count += countOf(textsOf(body)[0] ?? '')
    const unit = this.units[0]
    if (type !== 'Z' && unit !== undefined) return Buffer.alloc(0)
    if (type === 'Z' && !this.ended(this.units.shift(), String.fromCharCode(body[0] ?? 0))) return undefined
    const whole = Buffer.concat(this.answers)
    this.answers = []
    return whole
  }

  private unitOf(sql: string): Unit {
    const isCommit = /^\s*commit\b/i.test(sql)
    const statement = this.nameOf(sql)
    if (isCommit && this.changed.length > 0)
      return { statement, isCommit, write: `database: COMMIT of ${[...new Set(this.changed)].join(', ')}` }
    const write = statement !== undefined && !this.inTransaction ? `database: ${statement}` : undefined
    return { statement, isCommit, write }
  }

  private ended(unit: Unit | undefined, state: string): boolean {
    const { count } = this
    this.count = 0
    this.inTransaction = state !== 'I'
    if (unit === undefined) return true
    const { statement, write, isCommit } = unit
    if (this.inTransaction) {
      if (statement !== undefined && count > 0) this.changed.push(statement)
      return true
    }
    this.changed = []
    return write === undefined || (count === 0 && !isCommit) || this.crash.mayAnswer(write)
  }
}
