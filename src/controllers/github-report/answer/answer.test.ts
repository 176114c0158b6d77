// From the status of a preview or a RemoteSync to what GitHub shows: every state has an answer, doubt has none, and text of
// others stays text.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { previewStates } from '../../../api/apps/app-pipeline/status.ts'
import { type RemoteSync, remoteSyncReasons as reasons } from '../../../api/apps/remote-sync.ts'
import { stateOfUnready } from '../../../api/reasons/remote-sync-state.ts'
import { reportContext } from '../testing/report-context.ts'
import { commentMarker, desiredAnswers, logUrl } from './desired.ts'
import { isAddress } from './markdown.ts'
import {
  causeIn,
  gone,
  isWorthTelling,
  type Phase,
  type PreviewRow,
  type Situation,
  situationOfPreview,
  situationOfRemoteSync,
} from './situation.ts'

const [head, older] = ['a'.repeat(40), 'b'.repeat(40)]
const at = '2026-01-01T00:00:00.000Z'

const row = (state: PreviewRow['state'], changes: Partial<PreviewRow> = {}): PreviewRow => ({
  number: 7,
  headCommit: head,
  headRepository: 4001,
  state,
  reason: 'Because',
  message: 'of this',
  application: 'shop-pr-7',
  since: at,
  activeAt: at,
  ...changes,
})

const context = reportContext('shop-pr-7')
const ofHead = { repositoryId: 4001, source: 'Head' }
const ofMerge = { repositoryId: 4001, source: 'Merge' }

function remoteSync(
  reason: string,
  changes: Partial<NonNullable<RemoteSync['status']>> = {},
  isReady = false,
  resolved = 'True',
): RemoteSync {
  const condition = { type: 'Ready', status: isReady ? ('True' as const) : ('False' as const), reason, message: 'm' }
  const status = {
    commit: head,
    build: { name: 'shop-1', commit: head, attempt: 1 },
    conditions: [
      { ...condition, lastTransitionTime: at, observedGeneration: 1 },
      { type: 'Resolved', status: resolved },
    ],
    ...changes,
  }
  return { metadata: { name: 'shop', namespace: 'acme', generation: 1 }, status } as unknown as RemoteSync
}

describe('the situation of a preview', () => {
  test('is none while it is being removed, and its state otherwise', () => {
    for (const state of previewStates)
      expect(situationOfPreview(row(state), undefined, ofHead)?.phase).toBe(state === 'Removing' ? undefined : state)
  })

  test('names the URL only when the newest commit runs', () => {
    const url = 'https://pr-7.example.test'
    expect(situationOfPreview(row('Running', { url }), undefined, ofHead)?.url).toBe(url)
    expect(situationOfPreview(row('Building', { url }), undefined, ofHead)?.url).toBeUndefined()
  })

  test('names the build of the newest commit, and no other', () => {
    expect(situationOfPreview(row('Building'), remoteSync(reasons.building), ofHead)?.build).toBe('shop-1')
    const behind = remoteSync(reasons.building, { commit: older, build: { name: 'shop-0', commit: older, attempt: 1 } })
    expect(situationOfPreview(row('Building'), behind, ofHead)?.build).toBeUndefined()
    expect(situationOfPreview(row('Building'), behind, ofMerge)?.build).toBe('shop-0')
  })

  test('begins with the cause of a failed build, without the end of its log', () => {
    const message = 'npm ERR! missing script: start\n(step build failed: correct it and push again; its log ends with:)\nnoise'
    const failed = remoteSync(reasons.buildFailed, {
      failedCommit: head,
      failure: { stage: 'Built', reason: 'BuildFailed', message },
    })
    expect(situationOfPreview(row('Failed'), failed, ofHead)).toMatchObject({
      reason: 'BuildFailed',
      message: 'npm ERR! missing script: start',
    })
    expect(situationOfPreview(row('Failed'), undefined, ofHead)).toMatchObject({ reason: 'Because', message: 'of this' })
  })

  test.each([
    [row('LeftOut', { reason: 'LimitReached' }), true],
    [row('LeftOut', { reason: 'Idle' }), true],
    [row('LeftOut', { reason: 'ForkExcluded' }), false],
    [row('LeftOut', { reason: 'DraftExcluded' }), false],
    [row('Paused'), false],
    [row('Waiting'), true],
    [row('WaitingForApproval'), true],
  ])('people who heard nothing before hear of it only where they would expect a preview (%#)', (item, expected) => {
    const situation = situationOfPreview(item, undefined, ofHead)
    expect(situation && isWorthTelling(situation)).toBe(expected)
  })
})

describe('what strangers decide alone', () => {
  test.each([
    ['a fork waits', row('WaitingForApproval', { headRepository: 4002, application: undefined as never }), true],
    [
      'a deleted fork waits',
      row('WaitingForApproval', { headRepository: undefined as never, application: undefined as never }),
      true,
    ],
    ['a fork is left out', row('LeftOut', { headRepository: 4002, application: undefined as never }), true],
    ['an approved fork is built', row('Building', { headRepository: 4002 }), false],
    ['what was approved of a fork is being removed', row('WaitingForApproval', { headRepository: 4002 }), false],
    ['the repository itself', row('LeftOut', { application: undefined as never }), false],
  ])('%s', (_what, item, expected) => {
    expect(situationOfPreview(item, undefined, ofHead)?.isUnapproved).toBe(expected)
  })
})

describe('the situation of a RemoteSync', () => {
  test.each([
    [reasons.deployed, true, 'Running'],
    [reasons.pathsUnchanged, true, 'Unchanged'],
    [reasons.commitSkipped, true, 'Skipped'],
    [reasons.queued, false, 'Building'],
    [reasons.rollingOut, false, 'Building'],
    [reasons.buildFailed, false, 'Failed'],
    [reasons.applicationNotReady, false, 'Failed'],
    [reasons.promoted, true, 'Running'],
  ] as const)('%s', (reason, isReady, phase) => {
    expect(situationOfRemoteSync(remoteSync(reason, {}, isReady), undefined)?.phase).toBe(phase)
  })

  test.each(Object.values(reasons))('of a commit that is known reads like the preview of one: %s', reason => {
    const object = remoteSync(reason)
    const state = stateOfUnready(object, { reason })
    const said = ['Building', 'Failed', 'Conflict'].includes(state) ? state : undefined
    expect(situationOfRemoteSync(object, undefined)?.phase).toBe(said)
  })

  test.each(Object.values(reasons))('of a commit that is not known is none, except for a conflict: %s', reason => {
    const phase = reason === reasons.mergeConflict ? 'Conflict' : undefined
    expect(situationOfRemoteSync(remoteSync(reason, {}, false, 'False'), undefined)?.phase).toBe(phase)
  })

  test('is none before the present spec was handled, and without a commit', () => {
    const changed = remoteSync(reasons.deployed, {}, true)
    expect(situationOfRemoteSync({ ...changed, metadata: { ...changed.metadata, generation: 2 } }, undefined)).toBeUndefined()
    const { commit, ...status } = changed.status ?? {}
    expect(situationOfRemoteSync({ ...changed, status }, undefined)).toBeUndefined()
  })

  test.each([
    ['one line', 'one line'],
    ['step build failed: x\n(fix it and push again)', 'step build failed: x'],
    ['two\nlines\n(step detect failed: correct it and push again; its log ends with:)\nx', 'two\nlines'],
  ])('the cause in %j', (message, cause) => expect(causeIn(message)).toBe(cause))
})

describe('what GitHub shows', () => {
  const phases = [
    ...previewStates.filter(state => state !== 'Removing'),
    'Unchanged',
    'Skipped',
    'Gone',
  ] as const satisfies readonly Phase[]
  const situation = (phase: Phase, changes: Partial<Situation> = {}): Situation =>
    phase === 'Gone' ? gone : { ...(situationOfPreview(row('Running'), undefined, ofHead) ?? gone), phase, ...changes }

  test('has a comment for every state of a preview, and none for a RemoteSync', () => {
    for (const phase of phases) {
      expect(desiredAnswers(situation(phase), context).comment?.content.body).toContain(commentMarker(context.marker))
      expect(desiredAnswers(situation(phase), { ...context, pipeline: undefined }).comment).toBeUndefined()
    }
  })

  test.each([
    ['Waiting', 'pending', undefined],
    ['WaitingForApproval', undefined, undefined],
    ['LeftOut', undefined, undefined],
    ['Building', 'pending', 'in_progress'],
    ['Running', 'success', 'success'],
    ['Unchanged', 'success', undefined],
    ['Failed', 'failure', 'failure'],
    ['Conflict', 'failure', undefined],
    ['Paused', undefined, 'inactive'],
    ['Gone', undefined, 'inactive'],
  ] as const)('%s: status %s, deployment %s', (phase, commit, deployment) => {
    const desired = desiredAnswers(situation(phase), context)
    expect(desired.commitStatus?.content.state).toBe(commit)
    expect(desired.deploymentStatus?.content.state).toBe(deployment)
    expect(desired.deployment !== undefined).toBe(['Building', 'Running', 'Failed'].includes(phase))
  })

  test('ends what is pending when nothing will be built, and the deployment when nothing runs any more', () => {
    const pending = { ...context, pendingCommit: older }
    for (const phase of ['LeftOut', 'Paused', 'WaitingForApproval', 'Gone'] as const)
      expect(desiredAnswers(situation(phase), pending).commitStatus?.content).toMatchObject({ commit: older })
    const removed = desiredAnswers(situation('WaitingForApproval', { exists: false }), context)
    expect(removed.deploymentStatus?.content.state).toBe('inactive')
    expect(removed.endsServing).toBe(true)
    expect(desiredAnswers(situation('Conflict'), context)).toMatchObject({ endsServing: false })
  })

  test('says nothing about a commit whose status another preview writes, and ends nothing of it', () => {
    const shared = { ...context, othersCommits: [head], pendingCommit: head }
    for (const phase of phases) expect(desiredAnswers(situation(phase), shared).commitStatus).toBeUndefined()
  })

  test('leads to the page of the build, and to that of all builds before there is one', () => {
    expect(logUrl(context, 'shop-1')).toBe('https://sekisho.example.test/tenants/acme/builds/shop-1')
    expect(logUrl(context, undefined)).toBe('https://sekisho.example.test/tenants/acme/builds')
  })

  test('has a status under another name when the name of the Application has changed', () => {
    const [one, other] = ['sekisho/shop', 'sekisho/store'].map(statusContext =>
      desiredAnswers(situation('Running'), { ...context, statusContext }),
    )
    expect(one?.commitStatus?.hash).not.toBe(other?.commitStatus?.hash)
  })

  test('is not written again for the time alone', () => {
    const [one, two] = [at, '2026-01-02T00:00:00.000Z'].map(since => desiredAnswers(situation('Running', { since }), context))
    expect(one?.comment?.hash).toBe(two?.comment?.hash)
  })

  test('texts of others reach the comment as code, and nothing else', () => {
    const hostile = fc
      .array(
        fc.oneof(
          fc.constantFrom(
            '@acme/owners',
            '#1',
            '`',
            '```',
            '\n',
            '![x](http://evil.test/x)',
            '[x](http://evil.test)',
            '<img src=x>',
          ),
          fc.constantFrom(
            '-->',
            '\u202e',
            'https://evil.test',
            '\n\n# Title\n',
            '~~~',
            '\\',
            '$(id)',
            '{{ secrets.X }}',
            '\u0000',
          ),
          fc.string({ unit: 'grapheme', maxLength: 8 }),
        ),
        { maxLength: 30 },
      )
      .map(parts => parts.join(''))
    fc.assert(
      fc.property(hostile, hostile, fc.constantFrom(...phases), (message, url, phase) => {
        // Only the platform makes addresses of this form.
        fc.pre(!isAddress(url))
        const about = situation(phase, { message, reason: message, url })
        const desired = desiredAnswers(phase === 'Gone' ? { ...gone, message } : about, context)
        const body = desired.comment?.content.body ?? ''
        expect(withoutCode(body)).not.toMatch(/@|evil|!\[|\]\(|<img|# Title|secrets|(?!\n)[\p{Cc}\p{Cf}]/u)
        expect(body.length).toBeLessThan(10_000)
        const { comment, ...elsewhere } = desired
        const texts = JSON.stringify(elsewhere)
        expect(texts).not.toMatch(/@acme|evil|<img|secrets/)
        expect((elsewhere.commitStatus?.content.description ?? '').length).toBeLessThanOrEqual(140)
      }),
    )
  })
})

/**
 * The rest of a text of CommonMark without its code: fenced blocks by lines, then spans between runs of equally many backticks.
 */
function withoutCode(body: string): string {
  const outside: string[] = []
  let fence: string | undefined
  for (const line of body.split('\n')) {
    const [, ticks] = /^ {0,3}(`{3,})/.exec(line) ?? []
    if (fence === undefined && ticks !== undefined) fence = ticks
    else if (fence !== undefined && ticks !== undefined && ticks.length >= fence.length && /^[ `]*$/.test(line)) fence = undefined
    else if (fence === undefined) outside.push(line)
  }
  expect(fence).toBeUndefined()
  return outside.join('\n').replaceAll(/(?<!`)(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)/g, '')
}
