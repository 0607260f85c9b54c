# docker build -t crossarc . && docker run --rm -p 127.0.0.1:8000:8000 crossarc
FROM python:3.13-slim
RUN useradd --create-home crossarc
COPY . /src
RUN pip install --no-cache-dir "/src[serve]" && rm -rf /src
USER crossarc
WORKDIR /home/crossarc
# Kernels are compiled for this processor and kept, so that the service starts at once.
ENV NUMBA_CACHE_DIR=/home/crossarc/kernels
RUN crossarc parse --confidence --text "Words." > /dev/null
EXPOSE 8000
CMD ["crossarc", "serve", "--host", "0.0.0.0"]
