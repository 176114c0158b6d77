// The users and organizations of the local demo.
import type { Seed } from './seed.ts'

function readme(name: string, text: string): Record<string, string> {
  return { 'README.md': `# ${name}\n\n${text}\n` }
}

export const defaultSeed: Seed = {
  users: [
    { id: 1001, login: 'olivia', name: 'Olivia Owner' },
    { id: 1002, login: 'dave', name: 'Dave Developer' },
    { id: 1003, login: 'mia', name: 'Mia Member' },
    { id: 1004, login: 'gary', name: 'Gary Globex' },
    { id: 1005, login: 'noah', name: 'Noah Nobody' },
    { id: 1006, login: 'ada', name: 'Ada Admin' },
  ],
  organizations: [
    { id: 2001, login: 'acme', name: 'Acme', basePermission: 'none', owners: ['olivia'], members: ['dave', 'mia'] },
    { id: 2002, login: 'globex', name: 'Globex', basePermission: 'read', owners: ['gary'], members: [] },
  ],
  teams: [
    {
      id: 3001,
      organization: 'acme',
      slug: 'developers',
      name: 'Developers',
      members: ['dave'],
      repositories: { shop: 'write' },
    },
  ],
  repositories: [
    { id: 4001, owner: 'acme', name: 'shop', private: true, description: 'The shop', files: readme('shop', 'Sells things.') },
    {
      id: 4002,
      owner: 'acme',
      name: 'secret-plans',
      private: true,
      description: 'Plans',
      files: readme('secret-plans', 'Nobody may read this.'),
    },
    { id: 4003, owner: 'globex', name: 'site', private: true, description: 'The site', files: readme('site', 'Says hello.') },
  ],
  apps: [
    {
      id: 5001,
      botId: 1901,
      slug: 'sekisho-dev',
      name: 'Sekisho (development)',
      description: 'Runs what you push.',
      owner: 'olivia',
      requestOAuthOnInstall: false,
      permissions: {
        metadata: 'read',
        contents: 'write',
        pull_requests: 'write',
        statuses: 'write',
        deployments: 'write',
        checks: 'write',
        members: 'read',
      },
      events: [
        'push',
        'pull_request',
        'pull_request_review',
        'issue_comment',
        'membership',
        'organization',
        'member',
        'team',
        'repository',
      ],
    },
  ],
}
