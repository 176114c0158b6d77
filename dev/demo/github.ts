// Requests of the demo's users to GitHub's REST API, each with the personal token of that user.
import type { DemoContext } from './context.ts'

export type GitHubAnswer = { readonly status: number; readonly body: unknown }

/** `path` is below the root of the API. Resolves for every status; rejects when GitHub does not answer within ten seconds. */
export async function askGitHub(
  demo: DemoContext,
  login: string,
  request: `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`,
  body?: object,
): Promise<GitHubAnswer> {
  const [method = '', path = ''] = request.split(' ')
  const headers = { authorization: `Bearer ${demo.personalTokens[login]}`, accept: 'application/vnd.github+json' }
  const answer = await fetch(`${demo.githubApi}${path}`, {
    method,
    headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(10_000),
  })
  const text = await answer.text()
  return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) }
}

/** As `askGitHub`, for what must succeed: resolves to the body, rejects with GitHub's answer. */
export async function onGitHub<T>(...[demo, login, request, body]: Parameters<typeof askGitHub>): Promise<T> {
  const answer = await askGitHub(demo, login, request, body)
  if (answer.status >= 300) throw new Error(`${login}: ${request}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 300)}`)
  return answer.body as T
}
