// Each way in which a person may not approve, and what is recorded and written when they may.
import { expect, test } from 'vitest'
import type { AppPipeline } from '../../api/apps/app-pipeline.ts'
import type { PreviewApproval } from '../../api/apps/preview-approval.ts'
import type { AuditRecord } from '../../api/audit/audit-event.ts'
import { KubeError } from '../../kube/client/errors.ts'
import { AppError } from '../../lib/errors.ts'
import { silentLog } from '../../lib/testing/silent-log.ts'
import { type ApprovalRequest, type ApprovePreviewDeps, approvePreview, type PersonsRepository } from './approve-preview.ts'

const head = 'a'.repeat(40)
const subject = 'github|github.com|42'

const pipeline = (state = 'WaitingForApproval'): AppPipeline =>
  ({
    apiVersion: 'apps.sekisho.dev/v1alpha1',
    kind: 'AppPipeline',
    metadata: { name: 'shop', namespace: 'acme', uid: 'uid-1' },
    spec: { installation: 'github', repository: 'acme/shop' },
    status: {
      repository: { id: 11, name: 'acme/shop', requested: 'acme/shop' },
      previews: [{ number: 7, headCommit: head, state, reason: 'ApprovalMissing' }],
    },
  }) as unknown as AppPipeline

type World = {
  readonly pipeline?: AppPipeline
  readonly host?: string
  readonly pull?: Partial<Awaited<ReturnType<PersonsRepository['pullRequest']>>> | 'hidden'
  readonly permission?: string | AppError
  readonly existing?: Partial<PreviewApproval['spec']>
}

function world({ pipeline: of = pipeline(), host = 'github.com', pull = {}, permission = 'write', existing }: World) {
  const records: AuditRecord[] = []
  const created: PreviewApproval[] = []
  const asked: string[] = []
  const deps: ApprovePreviewDeps = {
    previews: {
      find: async ({ subject: who }, namespace) => {
        if (who !== subject || namespace !== 'acme') throw new AppError('not_found', 'there is no such AppPipeline')
        return of
      },
    },
    installations: { get: () => ({ spec: { account: { host } } }) as never },
    repositoryClient: async (askedHost, userId) => {
      asked.push(`${askedHost}/${userId}`)
      return {
        pullRequest: async (repository, number) => {
          expect([repository, number]).toEqual([11, 7])
          return pull === 'hidden'
            ? undefined
            : { state: 'open', headSha: head, headRepositoryId: 12, baseRepositoryId: 11, ...pull }
        },
        userById: async id => ({ id, login: 'mia' }),
        collaboratorPermission: async () => {
          if (permission instanceof AppError) throw permission
          return { permission: permission as 'write', userId }
        },
      } as PersonsRepository
    },
    kube: {
      create: (async (_type: unknown, object: PreviewApproval) => {
        // The log has it first.
        expect(records.at(-1)?.outcome).toBe('allowed')
        if (existing !== undefined) throw new KubeError('exists', { status: 409, reason: 'AlreadyExists' })
        created.push(object)
        return object
      }) as never,
      get: (async () => ({ spec: { ...desiredSpec, ...existing } })) as never,
    },
    audit: {
      append: (async (record: AuditRecord) => void records.push(record)) as never,
      async appendOnce(record, alreadyRecorded) {
        if (!alreadyRecorded(records as never)) records.push(record)
      },
    },
    log: silentLog,
  }
  return { deps, records, created, asked }
}

const desiredSpec = {
  pipeline: { name: 'shop', uid: 'uid-1' },
  repository: 11,
  number: 7,
  headCommit: head,
  by: { id: 42, login: 'mia' },
  via: 'Page',
}

const request: ApprovalRequest = {
  identity: { subject, groups: [] },
  namespace: 'acme',
  pipeline: 'shop',
  number: 7,
  headCommit: head,
  via: 'Page',
}

test('a person with write access approves: GitHub is asked as that person, the log has it, and then the object exists', async () => {
  const { deps, records, created, asked } = world({})
  await expect(approvePreview(deps, request)).resolves.toBe(`shop-pr-7-${head.slice(0, 12)}`)
  expect(asked).toEqual(['github.com/42'])
  expect(created).toMatchObject([{ metadata: { namespace: 'acme', ownerReferences: [{ uid: 'uid-1' }] }, spec: desiredSpec }])
  expect(records).toMatchObject([
    {
      action: 'preview.approved',
      actor: subject,
      namespace: 'acme',
      outcome: 'allowed',
      details: { headCommit: head, via: 'Page' },
    },
  ])
})

test.each<[string, World, Partial<ApprovalRequest>, string]>([
  ['who may not see the AppPipeline', {}, { identity: { subject: 'github|github.com|43', groups: [] } }, 'not_found'],
  ['in another namespace', {}, { namespace: 'globex' }, 'not_found'],
  ['who is not a person', {}, { identity: { subject: 'system:serviceaccount:acme:x', groups: [] } }, 'forbidden'],
  ['who signed in at another host, where ids mean other things', { host: 'ghe.example.com' }, {}, 'forbidden'],
  ['of a pull request that is not listed', {}, { number: 8 }, 'not_found'],
  ['of one that does not wait', { pipeline: pipeline('Running') }, {}, 'conflict'],
  ['whom GitHub does not show the pull request', { pull: 'hidden' }, {}, 'forbidden'],
  ['of one that is closed', { pull: { state: 'closed' } }, {}, 'conflict'],
  ['of a commit that is not the head any more', { pull: { headSha: 'b'.repeat(40) } }, {}, 'conflict'],
  ['with the former head, while the platform shows it', { pull: { headSha: 'b'.repeat(40) } }, { headCommit: head }, 'conflict'],
  ['for whom GitHub cannot be asked', { permission: new AppError('unavailable', 'away') }, {}, 'unavailable'],
])('a person cannot approve %s', async (_what, given, change, code) => {
  const { deps, records, created } = world(given)
  await expect(approvePreview(deps, { ...request, ...change })).rejects.toMatchObject({ code })
  expect([records, created]).toEqual([[], []])
})

test.each<[string, string | AppError]>([
  ['reads only', 'read'],
  ['triages', 'triage'],
  ['has no access', 'none'],
  ['may not even ask', new AppError('forbidden', 'Must have push access')],
])('a person who %s cannot approve, which is recorded', async (_what, permission) => {
  const { deps, records, created } = world({ permission })
  await expect(approvePreview(deps, request)).rejects.toMatchObject({ code: 'forbidden', reason: 'NoWriteAccess' })
  expect(created).toEqual([])
  expect(records).toMatchObject([{ outcome: 'denied', actor: subject, object: 'AppPipeline/acme/shop' }])
})

test('who approves again after a process ended before the object existed is recorded once; another person is recorded, too', async () => {
  const { deps, records } = world({})
  await approvePreview(deps, request)
  await approvePreview(deps, request)
  expect(records).toHaveLength(1)
  const previews = { find: async () => pipeline() }
  await approvePreview({ ...deps, previews }, { ...request, identity: { subject: 'github|github.com|41', groups: [] } })
  expect(records.map(({ actor }) => actor)).toEqual([subject, 'github|github.com|41'])
})

test('approving again is not an error; an object of the name that is for another commit with the same beginning is', async () => {
  await expect(approvePreview(world({ existing: {} }).deps, request)).resolves.toBe(`shop-pr-7-${head.slice(0, 12)}`)
  const forged = world({ existing: { headCommit: `${head.slice(0, 12)}${'b'.repeat(28)}` } })
  await expect(approvePreview(forged.deps, request)).rejects.toMatchObject({ code: 'conflict' })
})
