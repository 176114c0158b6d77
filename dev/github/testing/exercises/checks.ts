// Calls every route of check runs once with success and checks the result.
import { expect } from 'vitest'
import { bot, type Participants } from './participants.ts'

const shop = { owner: 'acme', repo: 'shop' }

/** Calls each route of this area. */
export async function exerciseChecks(participants: Participants): Promise<void> {
  const app = await bot(participants)
  const ref = 'main'
  const { data: main } = await app.request('GET /repos/{owner}/{repo}/branches/{branch}', { ...shop, branch: ref })
  const head_sha = main.commit.sha
  const output = { title: 'Building', summary: 'So far so good' }
  const { data: run } = await app.request('POST /repos/{owner}/{repo}/check-runs', {
    ...shop,
    head_sha,
    name: 'build',
    status: 'in_progress',
    output,
  })
  expect(run).toMatchObject({
    status: 'in_progress',
    conclusion: null,
    check_suite: { id: expect.any(Number) },
    app: { id: 5001 },
  })
  const one = { ...shop, check_run_id: run.id }
  await app.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', { ...one, conclusion: 'success' })
  expect((await app.request('GET /repos/{owner}/{repo}/check-runs/{check_run_id}', one)).data).toMatchObject({
    status: 'completed',
    conclusion: 'success',
    output: { title: 'Building', annotations_count: 0 },
  })
  expect((await app.request('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', { ...shop, ref })).data.total_count).toBe(1)
  await app.request('POST /repos/{owner}/{repo}/check-runs/{check_run_id}/rerequest', one)
}
