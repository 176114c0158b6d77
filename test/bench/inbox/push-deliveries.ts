// The deliveries of the bench: push events of the size and form that GitHub documents, signed. The generator gives each request
// its own delivery id, as GitHub does; the id is not signed.
// Source: https://docs.github.com/en/webhooks/webhook-events-and-payloads#push
import { createHash, createHmac } from 'node:crypto'
import type { PlannedRequest } from '../load/planned-request.ts'

export const webhookSecret = 'a secret of the bench, which protects nothing'
export const deliveryHeader = 'x-github-delivery'
export const deliveryPath = '/webhooks/github'

const name = 'acme/shop'
const api = `https://api.github.com/repos/${name}`

const repositoryPaths = [
  'forks',
  'keys{/key_id}',
  'collaborators{/collaborator}',
  'teams',
  'hooks',
  'issues/events{/number}',
  'events',
  'assignees{/user}',
  'branches{/branch}',
  'tags',
  'git/blobs{/sha}',
  'git/tags{/sha}',
  'git/refs{/sha}',
  'git/trees{/sha}',
  'statuses/{sha}',
  'languages',
  'stargazers',
  'contributors',
  'subscribers',
  'subscription',
  'commits{/sha}',
  'git/commits{/sha}',
  'comments{/number}',
  'issues/comments{/number}',
  'contents/{+path}',
  'compare/{base}...{head}',
  'merges',
  '{archive_format}{/ref}',
  'downloads',
  'issues{/number}',
  'pulls{/number}',
  'milestones{/number}',
  'notifications{?since,all,participating}',
  'labels{/name}',
  'releases{/id}',
  'deployments',
]
const userPaths = [
  'followers',
  'following{/other_user}',
  'gists{/gist_id}',
  'starred{/owner}{/repo}',
  'subscriptions',
  'orgs',
  'repos',
  'events{/privacy}',
  'received_events',
]

const urls = (base: string, paths: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(paths.map(path => [`${path.replace(/\{.*?\}/g, '').replaceAll(/\W+/g, '_')}_url`, `${base}/${path}`]))

const sha = (of: string): string => createHash('sha1').update(of).digest('hex')

function account(login: string, id: number): object {
  const url = `https://api.github.com/users/${login}`
  return {
    login,
    id,
    node_id: `MDQ6VXNlcj${id}`,
    avatar_url: `https://avatars.githubusercontent.com/u/${id}?v=4`,
    gravatar_id: '',
    url,
    html_url: `https://github.com/${login}`,
    ...urls(url, userPaths),
    type: 'User',
    site_admin: false,
  }
}

function commit(of: string): object {
  const person = { name: 'Dave', email: 'dave@example.com', username: 'dave' }
  return {
    id: sha(of),
    tree_id: sha(`tree of ${of}`),
    distinct: true,
    message: `Change the price of ${of}`,
    timestamp: '2026-02-03T10:20:30+00:00',
    url: `https://github.com/${name}/commit/${sha(of)}`,
    author: person,
    committer: person,
    added: [],
    removed: [],
    modified: ['catalogue/prices.json'],
  }
}

function push(number: number): Buffer {
  const [before, after] = [sha(`push ${number - 1}`), sha(`push ${number}`)]
  const payload = {
    ref: 'refs/heads/main',
    before,
    after,
    repository: {
      id: 186_853_002,
      node_id: 'MDEwOlJlcG9zaXRvcnkxODY4NTMwMDI=',
      name: 'shop',
      full_name: name,
      private: true,
      owner: account('acme', 21_031_067),
      html_url: `https://github.com/${name}`,
      description: null,
      fork: false,
      url: api,
      ...urls(api, repositoryPaths),
      created_at: 1_557_933_565,
      updated_at: '2026-02-03T10:20:30Z',
      pushed_at: 1_770_114_030,
      default_branch: 'main',
      stargazers: 0,
      master_branch: 'main',
    },
    pusher: { name: 'dave', email: 'dave@example.com' },
    sender: account('dave', 583_231),
    installation: { id: 4711, node_id: 'MDIzOkludGVncmF0aW9uSW5zdGFsbGF0aW9uNDcxMQ==' },
    created: false,
    deleted: false,
    forced: false,
    base_ref: null,
    compare: `https://github.com/${name}/compare/${before.slice(0, 12)}...${after.slice(0, 12)}`,
    commits: [commit(`first of ${number}`), commit(`second of ${number}`)],
    head_commit: commit(`second of ${number}`),
  }
  return Buffer.from(JSON.stringify(payload))
}

const different = 64

/** `expected` is the receiver's answer to an accepted delivery. */
export function plannedDeliveries(expected: { readonly status: number; readonly text: string }): readonly PlannedRequest[] {
  return Array.from({ length: different }, (_, number) => {
    const body = push(number)
    return {
      path: deliveryPath,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'GitHub-Hookshot/2f4c8b9',
        accept: '*/*',
        'x-github-event': 'push',
        'x-github-hook-id': '292430182',
        'x-hub-signature-256': `sha256=${createHmac('sha256', webhookSecret).update(body).digest('hex')}`,
      },
      body: body.toString('base64'),
      expectedStatus: expected.status,
      expectedText: expected.text,
    }
  })
}
