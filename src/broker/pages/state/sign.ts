// How good and bad look on every page: a mark, a colour and a word for each class of reason. Pure. What kinds say is turned into
// a class by their reasons; what has no reason, a build or a preview, by the tables here. Nothing is said by colour alone.
import type { PreviewState } from '../../../api/apps/app-pipeline/status.ts'
import type { ReasonClass } from '../../../api/reasons/reason.ts'
import type { BuildOutcome, BuildRecord } from '../../../store/builds/build-record.ts'
import { type Html, html } from '../../../web/html.ts'

type Sign = {
  readonly mark: string
  /** The class in the style sheet. */
  readonly tone: 'bad' | 'waiting' | 'progress' | 'good' | 'off'
  /** For people who do not see the mark. */
  readonly words: string
}

/** In the order in which they are shown: first what somebody has to do something about. */
const signs: Readonly<Record<ReasonClass, Sign>> = {
  failed: { mark: '✗', tone: 'bad', words: 'failed' },
  person: { mark: '!', tone: 'waiting', words: 'needs somebody' },
  machine: { mark: '⧗', tone: 'waiting', words: 'waits' },
  progress: { mark: '…', tone: 'progress', words: 'in progress' },
  intended: { mark: '–', tone: 'off', words: 'off' },
  ready: { mark: '✓', tone: 'good', words: 'ready' },
}

const order = Object.keys(signs) as readonly ReasonClass[]

/** Smaller is shown first. */
export function rankOf(of: ReasonClass): number {
  return order.indexOf(of)
}

/** The word with its sign. */
export function signed(of: ReasonClass, word: string): Html {
  const { mark, tone, words } = signs[of]
  const spoken = word.toLowerCase() === words ? undefined : html`<span class="spoken">${words}: </span>`
  return html`<span class="word sign ${tone}"><span aria-hidden="true">${mark}</span> ${spoken}${word}</span>`
}

export const classOfPreview: Readonly<Record<PreviewState, ReasonClass>> = {
  Failed: 'failed',
  Conflict: 'failed',
  WaitingForApproval: 'person',
  Waiting: 'progress',
  Building: 'progress',
  Removing: 'progress',
  Running: 'ready',
  Paused: 'intended',
  LeftOut: 'intended',
}

const classOfOutcome: Readonly<Record<BuildOutcome, ReasonClass>> = {
  Succeeded: 'ready',
  Failed: 'failed',
  TimedOut: 'failed',
  Cancelled: 'intended',
}

export function classOfBuild({ ended }: Pick<BuildRecord, 'ended'>): ReasonClass {
  return ended === undefined ? 'progress' : classOfOutcome[ended.outcome]
}
