// Which registries an administrator may list whose tags are followed.
import { expect, test } from 'vitest'
import { readControllersSettings } from './config.ts'

const others = {
  SEKISHO_PUBLIC_URL: 'https://sekisho.example.com',
  SEKISHO_REGISTRY: 'registry.example.com',
  SEKISHO_INGRESS_FROM: 'traefik',
  SEKISHO_REGISTRY_AUTHENTICATION: 'none',
  SEKISHO_INGRESS_CLASS: 'web',
  SEKISHO_APPLICATION_URL: 'https://apps.example.com',
}

const listed = (list: string) =>
  readControllersSettings({ ...others, SEKISHO_FOLLOWED_REGISTRIES: list }).followedRegistries.map(({ host }) => host)

test('no registry is asked about tags unless it is listed', () => {
  expect(readControllersSettings(others)).toMatchObject({ followedRegistries: [], followedTagSeconds: 300 })
  expect(listed('ghcr.io, docker.io,http://10.0.0.5:5000')).toEqual(['ghcr.io', 'docker.io', '10.0.0.5:5000'])
})

test.each(['http://169.254.169.254', 'http://100.100.100.200:80', '168.63.129.16', 'registry.gitlab.com=169.254.169.254'])(
  '%s is refused: clouds give credentials there',
  item => {
    expect(() => listed(`ghcr.io,${item}`)).toThrow('SEKISHO_FOLLOWED_REGISTRIES')
  },
)
