// A pod that requests a token from the token desk as any workload would, and tries what the token permits. It prints HTTP
// statuses only, and the SHA-256 of the token, by which it is found in the log.
import type { DemoContext } from '../../context.ts'
import type { Person } from '../../tools.ts'
import { podOutput } from './own-pod.ts'

export type ProbeAnswers = {
  readonly shop: number
  readonly secretPlans: number
  readonly write: number
  readonly push: number
  /** In base64, as GitHub's audit log has it. */
  readonly hash: string
}

const script = `
const { readFileSync } = require('node:fs')
const https = require('node:https')
const { createHash } = require('node:crypto')
const post = (url, options, body) => new Promise((resolve, reject) => {
  const request = https.request(url, { method: 'POST', ...options }, response => {
    const chunks = []
    response.on('data', chunk => chunks.push(chunk)).on('end', () => resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString() }))
  })
  request.on('error', reject).end(body)
})
;(async () => {
  const identity = readFileSync('/var/run/sekisho/token', 'utf8')
  const answer = await post(process.env.TOKEN_DESK + '/v1/token', {
    ca: readFileSync('/var/run/sekisho-ca/ca.crt'),
    headers: { authorization: 'Bearer ' + identity, 'content-type': 'application/json' },
  }, JSON.stringify({ grant: 'demo-reader' }))
  if (answer.status === 403) return console.log(JSON.stringify({ refused: true }))
  if (answer.status !== 200) throw new Error('token desk: ' + answer.status + ' ' + answer.text)
  const { token } = JSON.parse(answer.text)
  const headers = { authorization: 'token ' + token, accept: 'application/vnd.github+json' }
  const api = process.env.GITHUB_API
  const status = async (path, options = {}) => (await fetch(api + path, { headers, ...options })).status
  console.log(JSON.stringify({
    shop: await status('/repos/acme/shop/commits/' + process.env.SHA),
    secretPlans: await status('/repos/acme/secret-plans'),
    push: (await fetch(process.env.GITHUB_WEB + '/acme/shop.git/info/refs?service=git-receive-pack', {
      headers: { authorization: 'Basic ' + Buffer.from('x-access-token:' + token).toString('base64') },
    })).status,
    hash: createHash('sha256').update(token).digest('base64'),
    write: await status('/repos/acme/shop/statuses/' + process.env.SHA, { method: 'POST', body: JSON.stringify({ state: 'success' }) }),
  }))
})().catch(error => { console.error(error.message); process.exit(1) })
`

/** Runs the pod to its end; resolves to the HTTP status of each attempt, undefined when it was refused a token. */
export async function probePod(demo: DemoContext, dave: Person): Promise<ProbeAnswers | undefined> {
  const environment = { GITHUB_API: `${demo.githubWeb}/api/v3`, GITHUB_WEB: demo.githubWeb, SHA: demo.pushed.at(-1) ?? '' }
  const output = await podOutput(demo, dave, { name: 'demo-reader', script, environment })
  const answers: ProbeAnswers | { readonly refused: true } = JSON.parse(output)
  return 'refused' in answers ? undefined : answers
}
