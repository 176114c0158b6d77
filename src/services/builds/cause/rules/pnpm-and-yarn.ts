// pnpm and yarn, of every generation: what they say when packages cannot be installed, and what npm says of a workspace that
// is not there. Sources: https://pnpm.io/errors, https://yarnpkg.com/advanced/error-codes
import { group, type Rule } from '../rule.ts'
import { unknownPackage, unknownVersion } from './package-managers.ts'

const workspaceCure =
  'set spec.build.root to the folder that has the lock file and all packages of the workspace, such as "."; the lock file chooses pnpm or yarn'

export const pnpmAndYarnRules: readonly Rule[] = [
  {
    pattern: /^npm error Unsupported URL Type "(?:workspace|catalog|link|portal):": (.+)$/m,
    say: match =>
      `a dependency is "${group(match, 1)}", a package of a workspace, of which this build has one folder only: ${workspaceCure}`,
  },
  {
    pattern: /ERR_PNPM_WORKSPACE_PKG_NOT_FOUND\W.*?"(\S+?)@workspace:/m,
    say: match =>
      `there is no package ${group(match, 1)} in the workspace, of which this build may have one folder only: ${workspaceCure}`,
  },
  {
    pattern: /^➤ YN\d{4}: │ (\S+?)@workspace:\S+: Workspace not found/m,
    say: match =>
      `there is no package ${group(match, 1)} in the workspace, of which this build may have one folder only: ${workspaceCure}`,
  },
  {
    pattern: /ERR_PNPM_NO_MATCHING_VERSION\W+No matching version found for (\S+)/m,
    say: match => unknownVersion(group(match, 1)),
  },
  {
    pattern: /ERR_PNPM_FETCH_404\W+GET (\S+): Not Found/m,
    say: (match, { text }) => unknownPackage(/^(\S+) is not in the npm registry/m.exec(text)?.[1] ?? group(match, 1)),
  },
  { pattern: /^error Couldn't find package "(.+?)"/m, say: match => unknownPackage(group(match, 1)) },
  {
    pattern: /^error Couldn't find any versions for "(.+?)" that matches "(.+?)"/m,
    say: match => unknownVersion(`${group(match, 1)}@${group(match, 2)}`),
  },
  {
    pattern: /^➤ YN0082: │ (\S+?)@npm:(\S+): No candidates found/m,
    say: match => unknownVersion(`${group(match, 1)}@${group(match, 2)}`),
  },
  { pattern: /^➤ YN0035: │ (\S+?)@npm:\S+: Package not found/m, say: match => unknownPackage(group(match, 1)) },
  {
    pattern: /^\W*ERR_PNPM_(?!RECURSIVE_|LIFECYCLE)(\w+)\W+(.+)$/m,
    say: match => `pnpm: ${group(match, 2)} (ERR_PNPM_${group(match, 1)})`,
  },
]
