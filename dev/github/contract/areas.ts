// Which routes the emulator has beside the REST API, and how each of them is held to what GitHub does. A route that is neither in
// the REST table nor here fails the contract test. It never holds behaviour.

export type Area = {
  readonly name: string
  /** `METHOD path` in Fastify's notation; a path that ends in `*` stands for all that begin so. */
  readonly routes: readonly string[]
  /** Whether the contract test itself drives each route and judges its answer. */
  readonly driven: boolean
  /** How the answers are checked; for those that are not driven: why not. */
  readonly check: string
}

export const areas: readonly Area[] = [
  {
    name: 'OAuth',
    routes: ['POST /login/oauth/access_token', 'POST /login/device/code'],
    driven: true,
    check: '`@octokit/oauth-methods` runs the web flow, the device flow, refresh and check with them',
  },
  {
    name: 'Git over HTTP',
    routes: [
      'GET /:owner/:repository/info/refs',
      'POST /:owner/:repository/git-upload-pack',
      'POST /:owner/:repository/git-receive-pack',
    ],
    driven: true,
    check: 'the git client clones and pushes; `git fsck` judges what arrived',
  },
  {
    name: 'Archives',
    routes: ['GET /_codeload/:owner/:repository/:format/:sha'],
    driven: true,
    check: 'Octokit follows the redirect of the REST route; `tar` lists what arrived',
  },
  {
    name: 'Control',
    routes: ['GET /_emulator*', 'POST /_emulator*', 'DELETE /_emulator*'],
    driven: false,
    check: 'not part of GitHub: arms faults, guarded by a token of its own (`rest.test.ts`, `faults/`)',
  },
  {
    name: 'Pages',
    routes: [
      'GET /',
      'GET /login',
      'POST /session',
      'POST /logout',
      'GET /login/oauth/authorize',
      'POST /login/oauth/authorize',
      'GET /login/device',
      'POST /login/device*',
      'GET /settings/*',
      'POST /settings/*',
      'GET /organizations/*',
      'POST /organizations/*',
      'GET /orgs/*',
      'GET /apps/*',
      'POST /apps/*',
      'GET /github-apps/*',
      'POST /github-apps/*',
      'GET /:owner',
      'GET /:owner/:repository*',
      'POST /:owner/:repository/*',
    ],
    driven: false,
    check: 'HTML for people, which GitHub does not describe; clicked through by `pages/*.test.ts`',
  },
]

/** The first area that has the route; exact entries come before those with a star. */
export function areaOf(route: string): Area | undefined {
  return (
    areas.find(area => area.routes.includes(route)) ??
    areas.find(area => area.routes.some(one => one.endsWith('*') && route.startsWith(one.slice(0, -1))))
  )
}
