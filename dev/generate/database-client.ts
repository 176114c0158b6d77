// Generates the Prisma client into src/store/generated (not committed). Generation needs no engine, but the command line asks
// for one and would download it: any existing program satisfies it.
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')
const prisma = join(root, 'node_modules/prisma/build/index.js')
const result = spawnSync(process.execPath, [prisma, 'generate', '--schema', join(root, 'prisma/schema.prisma')], {
  cwd: root,
  encoding: 'utf8',
  env: {
    PATH: '/usr/bin:/bin',
    HOME: tmpdir(),
    PRISMA_SCHEMA_ENGINE_BINARY: '/bin/true',
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
    CHECKPOINT_DISABLE: '1',
  },
})
if (result.status !== 0) {
  console.error(`prisma generate failed:\n${result.stdout}${result.stderr}`)
  process.exit(1)
}
