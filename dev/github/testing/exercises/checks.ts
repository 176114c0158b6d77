// Owns: every route of check runs, check suites and environments called once with success, and what each must say.
import { expect } from 'vitest'
import { bot, person, type Site } from './site.ts'

const shop = { owner: 'acme', repo: 'shop' }

const exerciseEnvironments = async (site: Site): Promise<void> => {
  const [app, olivia] = [await bot(site), person(site, 'olivia')]
  const environment = { ...shop, environment_name: 'staging/eu' }
  expect((await olivia.request('PUT /repos/{owner}/{repo}/environments/{environment_name}', environment)).data.name).toBe(
    'staging/eu',
  )
  await app.request('GET /repos/{owner}/{repo}/environments/{environment_name}', environment)
  expect((await app.request('GET /repos/{owner}/{repo}/environments', shop)).data.environments?.map(one => one.name)).toContain(
    'staging/eu',
  )
  await olivia.request('DELETE /repos/{owner}/{repo}/environments/{environment_name}', environment)
}

const exerciseDeploymentStatus = async (site: Site): Promise<void> => {
  const app = await bot(site)
  const asked = { ...shop, ref: 'main', environment: 'live', required_contexts: [] }
  const made = await app.request('POST /repos/{owner}/{repo}/deployments', asked)
  if (made.status !== 201) throw new Error('the deployment was not made')
  const deployment = { ...shop, deployment_id: Number(made.data.id) }
  const status = await app.request('POST /repos/{owner}/{repo}/deployments/{deployment_id}/statuses', {
    ...deployment,
    state: 'in_progress',
  })
  const shown = await app.request('GET /repos/{owner}/{repo}/deployments/{deployment_id}/statuses/{status_id}', {
    ...deployment,
    status_id: Number(status.data.id),
  })
  expect(shown.data).toMatchObject({ state: 'in_progress', environment: 'live' })
  const live = { ...shop, environment_name: 'live' }
  expect((await app.request('GET /repos/{owner}/{repo}/environments/{environment_name}', live)).data.name).toBe('live')
}

/** Calls each route of this area. */
export const exerciseChecks = async (site: Site): Promise<void> => {
  const app = await bot(site)
  const ref = 'main'
  const { data: main } = await app.request('GET /repos/{owner}/{repo}/branches/{branch}', { ...shop, branch: ref })
  const head_sha = main.commit.sha
  const { data: suite } = await app.request('POST /repos/{owner}/{repo}/check-suites', { ...shop, head_sha })
  const annotation = { path: 'README.md', start_line: 1, end_line: 1, annotation_level: 'warning', message: 'Hm' } as const
  const output = { title: 'Building', summary: 'So far so good', annotations: [annotation] }
  const { data: run } = await app.request('POST /repos/{owner}/{repo}/check-runs', {
    ...shop,
    head_sha,
    name: 'build',
    status: 'in_progress',
    output,
  })
  expect(run).toMatchObject({ status: 'in_progress', conclusion: null, check_suite: { id: suite.id }, app: { id: 5001 } })
  const one = { ...shop, check_run_id: run.id }
  await app.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', { ...one, conclusion: 'success' })
  expect((await app.request('GET /repos/{owner}/{repo}/check-runs/{check_run_id}', one)).data).toMatchObject({
    status: 'completed',
    conclusion: 'success',
    output: { title: 'Building', annotations_count: 1 },
  })
  expect((await app.request('GET /repos/{owner}/{repo}/check-runs/{check_run_id}/annotations', one)).data).toHaveLength(1)
  const whole = { ...shop, check_suite_id: Number(suite.id) }
  expect((await app.request('GET /repos/{owner}/{repo}/check-suites/{check_suite_id}', whole)).data).toMatchObject({
    status: 'completed',
    conclusion: 'success',
  })
  await app.request('GET /repos/{owner}/{repo}/check-suites/{check_suite_id}/check-runs', whole)
  expect((await app.request('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', { ...shop, ref })).data.total_count).toBe(1)
  expect((await app.request('GET /repos/{owner}/{repo}/commits/{ref}/check-suites', { ...shop, ref })).data.total_count).toBe(1)
  await app.request('POST /repos/{owner}/{repo}/check-runs/{check_run_id}/rerequest', one)
  await app.request('POST /repos/{owner}/{repo}/check-suites/{check_suite_id}/rerequest', whole)
  await exerciseEnvironments(site)
  await exerciseDeploymentStatus(site)
}
