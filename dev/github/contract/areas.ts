// The routes of the emulator outside of the REST API, and how each is checked against GitHub. The contract test fails for a
// route that is neither in the list of REST routes nor here.

export type Area = {
  readonly name: string
  /** `METHOD path` in Fastify's notation; a path that ends in `*` stands for all that start with the rest. */
  readonly routes: readonly string[]
  /** Whether the contract test itself calls each route and checks its response. */
  readonly called: boolean
  /** How the responses are checked; for routes that the contract test does not call, why not. */
  readonly check: string
}

export const areas: readonly Area[] = [
  {
    name: 'OAuth',
    routes: ['POST /login/oauth/access_token'],
    called: true,
    check: '`@octokit/oauth-methods` runs the web flow, refresh and check with it',
  },
  {
    name: 'Git over HTTP',
    routes: [
      'GET /:owner/:repository/info/refs',
      'POST /:owner/:repository/git-upload-pack',
      'POST /:owner/:repository/git-receive-pack',
    ],
    called: true,
    check: 'the git client clones and pushes; `git fsck` checks the result',
  },
  {
    name: 'Control',
    routes: ['GET /_emulator*', 'POST /_emulator*', 'DELETE /_emulator*'],
    called: false,
    check: 'not part of GitHub; arms faults, with its own token (`rest.test.ts`, `faults/`)',
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
    called: false,
    check: 'HTML, which GitHub does not describe; tested by `pages/*.test.ts`',
  },
]

/** The first area that has the route; exact entries come before those with a star. */
export function areaOf(route: string): Area | undefined {
  return (
    areas.find(area => area.routes.includes(route)) ??
    areas.find(area => area.routes.some(one => one.endsWith('*') && route.startsWith(one.slice(0, -1))))
  )
}
