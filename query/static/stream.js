// The change stream, healed: whatever ends it, it is opened again, and the caller starts from a fresh state.

const SLOWEST_MS = 5000;

export class Stream {
  // connect: async () => url; it loads the state that the stream goes on from. Called for every connection.
  constructor(connect, onChange, onState) {
    Object.assign(this, { connect, onChange, onState, source: null, timer: 0, tries: 0, ended: false });
    this.#open();
  }

  end() {
    this.ended = true;
    clearTimeout(this.timer);
    this.source?.close();
  }

  // For whoever notices first that nothing comes any more: a connection that died in silence raises no error.
  lost(why) {
    if (this.source) this.#retry(why);
  }

  async #open() {
    try {
      const url = await this.connect();
      if (this.ended) return;
      this.source = new EventSource(url);
    } catch (problem) {
      this.#retry(problem.message);
      return;
    }
    this.source.onopen = () => {
      this.tries = 0;
      this.onState("live", "live");
    };
    this.source.addEventListener("change", (event) => this.onChange(JSON.parse(event.data)));
    for (const kind of ["gap", "dropped", "closing"]) {
      this.source.addEventListener(kind, (event) => this.#retry(JSON.parse(event.data).reason));
    }
    this.source.onerror = () => this.#retry("the connection broke");
  }

  #retry(why) {
    if (this.ended) return;
    this.source?.close();
    this.source = null;
    clearTimeout(this.timer);
    const wait = Math.min(500 * 2 ** this.tries++, SLOWEST_MS);
    this.onState("broken", `reconnecting: ${why}`);
    this.timer = setTimeout(() => this.#open(), wait);
  }
}
