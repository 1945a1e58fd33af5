// An instance of a WASI module for code that computes: no file, no clock, no network; what it prints is dropped.
(module) => {
  const EBADF = 8;
  let memory;
  const view = () => new DataView(memory.buffer);
  const at = (address, length) => new Uint8Array(memory.buffer, address, length);
  const given = {
    environ_sizes_get: (count, size) => (view().setUint32(count, 0, true), view().setUint32(size, 0, true), 0),
    environ_get: () => 0,
    clock_time_get: (id, precision, time) => (view().setBigUint64(time, 0n, true), 0),
    random_get: (address, length) => (at(address, length).fill(4), 0),
    fd_write: (fd, parts, count, written) => {
      let sum = 0;
      for (let i = 0; i < count; i++) sum += view().getUint32(parts + 8 * i + 4, true);
      view().setUint32(written, sum, true);
      return 0;
    },
    proc_exit: (code) => {
      throw new Error(`exit ${code}`);
    },
  };
  const names = WebAssembly.Module.imports(module).map(({ name }) => name);
  const wasi = Object.fromEntries(names.map((name) => [name, given[name] ?? (() => EBADF)]));
  const { exports } = new WebAssembly.Instance(module, { wasi_snapshot_preview1: wasi });
  memory = exports.memory;
  return {
    call: (name, ...args) => exports[name](...args),
    write: (bytes, address) => at(address, bytes.length).set(bytes),
    read: (address, length) => at(address, length).slice(),
  };
}
